// Calls of the worker.

export class Client {
  #worker;
  #next = 1;
  #calls = new Map();

  // fatal is called if the worker cannot go on.
  constructor(fatal) {
    this.#worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.#worker.onerror = (e) => fatal(`The viewer cannot start: ${e.message || "the worker was not loaded"}`);
    this.#worker.onmessage = ({ data }) => {
      if (data.fatal) return fatal(data.fatal);
      const call = this.#calls.get(data.id);
      if (!call) return;
      if (!data.last) return call.part?.(data.result);
      this.#calls.delete(data.id);
      if (data.error) call.reject(new CallError(data.error));
      else call.resolve(data.result);
    };
  }

  // call starts a call. It returns a promise with a method cancel, which rejects the promise.
  call(name, args, part) {
    const id = this.#next++;
    const promise = new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject, part }));
    this.#worker.postMessage({ id, name, args });
    promise.cancel = () => {
      if (this.#calls.has(id)) this.#worker.postMessage({ id, cancel: true });
    };
    return promise;
  }
}

export class CallError extends Error {
  get canceled() {
    return this.message === "canceled";
  }
}

// Latest makes calls one after the other, of which only the last one matters. A new call waits for the one that runs, and
// cancels it if that takes longer than grace milliseconds.
export class Latest {
  #running = null;
  #waiting = null;
  #timer = 0;

  constructor(grace) {
    this.grace = grace;
  }

  // run calls make, which starts a call, and then done or failed. Calls that are canceled end in silence.
  run(make, done, failed) {
    if (this.#running) {
      this.#waiting = { make, done, failed };
      if (!this.#timer) this.#timer = setTimeout(() => this.#running?.cancel(), this.grace);
      return;
    }
    const call = make();
    this.#running = call;
    call.then(done, (err) => err.canceled || failed(err)).catch((err) => failed(err)).finally(() => {
      clearTimeout(this.#timer);
      this.#timer = 0;
      this.#running = null;
      const next = this.#waiting;
      this.#waiting = null;
      if (next) this.run(next.make, next.done, next.failed);
    });
  }

  // cancel ends what runs and drops what waits.
  cancel() {
    this.#waiting = null;
    this.#running?.cancel();
  }
}
