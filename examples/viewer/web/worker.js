// The worker: it starts the Go program and passes the calls of the page on to it.
import "./wasm_exec.js";

const calls = []; // before the program is ready

self.onmessage = ({ data }) => {
  if (!self.viewerCall) calls.push(data);
  else if (data.cancel) self.viewerCancel(data.id);
  else start(data);
};

function start({ id, name, args }) {
  self.viewerCall(id, name, args, (error, result, last) => {
    const moved = result ? Object.values(result).filter((v) => v instanceof Uint8Array).map((v) => v.buffer) : [];
    self.postMessage({ id, error, result, last }, moved);
  });
}

self.viewerReady = () => {
  const dropped = new Set(calls.filter((c) => c.cancel).map((c) => c.id));
  for (const c of calls.splice(0)) {
    if (c.cancel) continue;
    if (dropped.has(c.id)) self.postMessage({ id: c.id, error: "canceled", last: true });
    else start(c);
  }
};

// program returns the program. A server may send the compressed file as it is, or decompress it on the way.
async function program() {
  const answer = await fetch("viewer.wasm.gz");
  if (!answer.ok) throw new Error(`viewer.wasm.gz: status ${answer.status}`);
  const bytes = await answer.arrayBuffer();
  const head = new Uint8Array(bytes, 0, 2);
  let stream = new Blob([bytes]).stream();
  if (head[0] === 0x1f && head[1] === 0x8b) stream = stream.pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream, { headers: { "Content-Type": "application/wasm" } });
}

try {
  const go = new self.Go();
  const { instance } = await WebAssembly.instantiateStreaming(program(), go.importObject);
  go.run(instance).then(() => self.postMessage({ fatal: "The program has ended. Reload the page." }));
} catch (err) {
  self.postMessage({ fatal: `The viewer cannot start: ${err.message}` });
}
