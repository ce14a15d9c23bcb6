-- A script for wrk: each request reads a random square of a plane.
--
--   blosc2 serve DIR
--   wrk -t 2 -c 64 -d 10 -s slices.lua http://127.0.0.1:8080 -- PATH SIDE N
--
-- PATH is the path of an array of SIDE x SIDE items, such as /a.b2nd, and N the side of a square. At the end, wrk
-- prints the number of answers that are no slices.

local threads = {}

function setup(thread)
  table.insert(threads, thread)
  thread:set("seed", #threads)
end

function init(args)
  path, side, n, failed = args[1], tonumber(args[2]), tonumber(args[3]), 0
  math.randomseed(seed)
end

function request()
  local i, j = math.random(0, side - n), math.random(0, side - n)
  return wrk.format("GET", string.format("%s?sel=%d:%d,%d:%d", path, i, i + n, j, j + n))
end

function response(status, headers, body)
  if status ~= 200 or string.sub(body, 2, 6) ~= "NUMPY" then failed = failed + 1 end
end

function done(summary, latency, requests)
  local total = 0
  for _, thread in ipairs(threads) do total = total + thread:get("failed") end
  local errors = summary.errors
  print(string.format("failed %d, socket errors %d, answers %d, median %d us, 99%% %d us", total,
    errors.connect + errors.read + errors.write + errors.timeout, summary.requests, latency:percentile(50), latency:percentile(99)))
end
