// The state of the view, and the part of the URL after # that records it.

export const defaults = () => ({
  url: "", key: "", row: -1, col: 0, at: [], window: null, map: "viridis", scale: "linear", percentile: [2, 98], range: null, nan: "c8c8c8", lineAxis: -1,
});

const numbers = (text, n) => {
  const list = text.split(",").map(Number);
  return text !== "" && list.every(Number.isFinite) && (n === undefined || list.length === n) ? list : null;
};
const whole = (list) => (list && list.every((x) => Number.isSafeInteger(x) && x >= 0) ? list : null);
const ascending = (list) => (list && list[0] <= list[1] ? list : null);

// parse returns the state in a hash. What is malformed is left out.
export function parse(hash) {
  const q = new URLSearchParams(hash.replace(/^#/, ""));
  const get = (name) => q.get(name) ?? "";
  const s = { ...defaults(), url: get("url"), key: get("key") };
  const axes = whole(numbers(get("axes")));
  if (axes?.length === 2 && axes[0] !== axes[1]) [s.row, s.col, s.axes] = [...axes, true];
  s.at = whole(numbers(get("at"))) ?? [];
  const w = numbers(get("window"), 4);
  if (w && w[0] < w[2] && w[1] < w[3]) s.window = { top: w[0], left: w[1], bottom: w[2], right: w[3] };
  if (get("map") === "gray") s.map = "gray";
  if (["log", "percentile"].includes(get("scale"))) s.scale = get("scale");
  const p = ascending(numbers(get("percentile"), 2));
  if (p && p[0] >= 0 && p[1] <= 100) s.percentile = p;
  s.range = ascending(numbers(get("range"), 2));
  if (/^[0-9a-f]{6}$/.test(get("nan"))) s.nan = get("nan");
  s.lineAxis = whole(numbers(get("line"), 1))?.[0] ?? -1;
  return s;
}

// format returns the hash of a state. Values that are the default are left out.
export function format(s) {
  const d = defaults();
  const q = [];
  const add = (name, value) => q.push(`${name}=${encodeURIComponent(value).replace(/%2F/g, "/").replace(/%3A/g, ":").replace(/%2C/g, ",")}`);
  if (s.url) add("url", s.url);
  if (s.key) add("key", s.key);
  if (s.row >= 0) add("axes", [s.row, s.col].join(","));
  if (s.at.some((i) => i !== 0)) add("at", s.at.join(","));
  if (s.window) add("window", [s.window.top, s.window.left, s.window.bottom, s.window.right].map((x) => +x.toFixed(3)).join(","));
  for (const name of ["map", "scale", "nan"]) if (s[name] !== d[name]) add(name, s[name]);
  if (s.scale === "percentile" && s.percentile.join() !== d.percentile.join()) add("percentile", s.percentile.join(","));
  if (s.range) add("range", s.range.join(","));
  if (s.lineAxis >= 0 && s.lineAxis !== s.col) add("line", s.lineAxis);
  return q.length ? `#${q.join("&")}` : "";
}

// settle makes a state fit an array: its axes exist, and its positions are inside.
export function settle(s, shape) {
  const n = shape.length;
  if (n === 1) [s.row, s.col] = [-1, 0];
  else if (!s.axes || s.row >= n || s.col >= n || s.row < 0) [s.row, s.col] = [n - 2, n - 1];
  s.axes = true;
  s.at = shape.map((length, axis) => Math.max(0, Math.min(s.at[axis] ?? 0, length - 1)));
  if (s.lineAxis < 0 || s.lineAxis >= n) s.lineAxis = s.col;
  return s;
}
