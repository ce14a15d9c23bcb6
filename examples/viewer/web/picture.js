// The canvas with the heat map, its axes and its color bar: zoom, pan, cursor.
import { count, el, endLabels, integerTicks, labels, logTicks, portion, textWidth, ticks } from "./svg.js";

const mostPixels = 2048;

// indexWidth returns the pixels of the largest index of an axis with n items.
const indexWidth = (n) => textWidth([count(n - 1)]);

export class Picture {
  rows = 1;
  cols = 1;
  window = { top: 0, left: 0, bottom: 1, right: 1 };
  cursor = { row: 0, col: 0 };
  names = ["", ""];
  #image = null; // of the last answer: { canvas, window }
  #step = { row: 1, col: 1 };
  #right = 0; // pixels for the color bar and its labels
  #drag = null;
  #touches = new Map(); // of the pointers that are down, by their id
  #pinch = null; // of two pointers: their place, the item between them and the size of the window at the start

  // on has the functions moved(), which asks for a picture, picked(row, col), hovered(row, col) and left().
  constructor(on) {
    this.on = on;
    this.canvas = document.getElementById("canvas");
    this.context = this.canvas.getContext("2d");
    this.axisX = document.getElementById("axis-x");
    this.axisY = document.getElementById("axis-y");
    this.bar = document.getElementById("bar");
    this.barAxis = document.getElementById("bar-axis");
    this.canvas.addEventListener("pointerdown", (e) => this.#down(e));
    this.canvas.addEventListener("pointermove", (e) => this.#move(e));
    this.canvas.addEventListener("pointerup", (e) => this.#up(e));
    this.canvas.addEventListener("pointercancel", (e) => this.#lift(e));
    this.canvas.addEventListener("pointerleave", () => this.#drag || on.left());
    this.canvas.addEventListener("wheel", (e) => this.#wheel(e), { passive: false });
    new ResizeObserver(() => this.resize() && this.on.moved()).observe(this.canvas);
  }

  // open shows a plane with some rows and columns, and a window or all of it.
  open(rows, cols, window, names) {
    [this.rows, this.cols, this.names, this.#image, this.#right] = [rows, cols, names, null, 0];
    this.#widen(96);
    this.canvas.closest("#figure").style.setProperty("--left", `${Math.max(58, indexWidth(rows) + 22)}px`);
    this.resize();
    this.window = window ? { ...window } : this.fit();
    this.#clamp();
    this.draw();
  }

  // resize makes the canvas as large as its place. It reports whether it has changed.
  resize() {
    const scale = Math.min(devicePixelRatio || 1, 2);
    const w = Math.max(1, Math.min(mostPixels, Math.round(this.canvas.clientWidth * scale)));
    const h = Math.max(1, Math.min(mostPixels, Math.round(this.canvas.clientHeight * scale)));
    if (w === this.canvas.width && h === this.canvas.height) return false;
    const all = this.isAll;
    [this.canvas.width, this.canvas.height] = [w, h];
    if (all) this.window = this.fit();
    this.#clamp();
    this.draw();
    return true;
  }

  // fit returns the window with the whole plane. Items are square unless the plane would be small.
  fit() {
    let [h, w] = [this.rows, this.cols];
    const wide = w / h / (this.canvas.width / this.canvas.height);
    if (this.rows > 1 && wide > 1 && wide <= 4) h *= wide;
    else if (this.rows > 1 && wide < 1 && wide >= 1 / 4) w /= wide;
    const [y, x] = [(h - this.rows) / 2, (w - this.cols) / 2];
    return { top: -y, left: -x, bottom: this.rows + y, right: this.cols + x };
  }

  get height() { return this.window.bottom - this.window.top; }
  get width() { return this.window.right - this.window.left; }

  // isAll reports whether the window shows the whole plane.
  get isAll() {
    const all = this.fit();
    return ["top", "left", "bottom", "right"].every((k) => Math.abs(all[k] - this.window[k]) < 1e-6 * Math.max(this.rows, this.cols));
  }

  // #clamp keeps a part of the plane in the window, and the zoom within limits.
  #clamp() {
    const all = this.fit();
    const limit = (size, full) => Math.max(Math.min(size, full), Math.min(1, full) * 0.999);
    const h = limit(this.height, all.bottom - all.top), w = limit(this.width, all.right - all.left);
    const y = Math.max(0, Math.min(this.rows, (this.window.top + this.window.bottom) / 2));
    const x = Math.max(0, Math.min(this.cols, (this.window.left + this.window.right) / 2));
    this.window = { top: y - h / 2, left: x - w / 2, bottom: y + h / 2, right: x + w / 2 };
    if (h === all.bottom - all.top) [this.window.top, this.window.bottom] = [all.top, all.bottom];
    if (w === all.right - all.left) [this.window.left, this.window.right] = [all.left, all.right];
  }

  // set changes the window.
  set(window) {
    const before = JSON.stringify(this.window);
    this.window = window;
    this.#clamp();
    this.draw();
    if (JSON.stringify(this.window) !== before) this.on.moved();
  }

  // zoom shows factor times as many items around a point, by default the cursor.
  zoom(factor, row = this.cursor.row + 0.5, col = this.cursor.col + 0.5) {
    const w = this.window;
    const y = Math.max(w.top, Math.min(w.bottom, row)), x = Math.max(w.left, Math.min(w.right, col));
    this.set({
      top: y - (y - w.top) * factor, bottom: y + (w.bottom - y) * factor,
      left: x - (x - w.left) * factor, right: x + (w.right - x) * factor,
    });
  }

  showAll() { this.set(this.fit()); }

  // pan moves the window by a part of its size.
  pan(dy, dx) {
    const w = this.window, y = dy * this.height, x = dx * this.width;
    this.set({ top: w.top + y, bottom: w.bottom + y, left: w.left + x, right: w.right + x });
  }

  // reveal moves the window so that the cursor is in it.
  reveal() {
    const w = this.window, { row, col } = this.cursor;
    const dy = row < w.top ? row - w.top : row + 1 > w.bottom ? row + 1 - w.bottom : 0;
    const dx = col < w.left ? col - w.left : col + 1 > w.right ? col + 1 - w.right : 0;
    if (dy || dx) this.pan(dy / this.height, dx / this.width);
    else this.draw();
  }

  // steps are the items from one sample to the next.
  get steps() { return this.#step; }

  // show draws an answer of the worker, which was asked for a window.
  show(answer, window, width, height) {
    const canvas = new OffscreenCanvas(width, height);
    canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(answer.pixels.buffer), width, height), 0, 0);
    this.#image = { canvas, window };
    this.#step = { row: answer.rowStep, col: answer.colStep };
    this.draw();
  }

  // clear removes the picture.
  clear() {
    this.#image = null;
    this.draw();
  }

  // draw draws the last answer, at its place in the window of now, and the cursor and axes.
  draw() {
    const c = this.context, { width, height } = this.canvas;
    c.clearRect(0, 0, width, height);
    c.imageSmoothingEnabled = false;
    const x = (col) => ((col - this.window.left) / this.width) * width;
    const y = (row) => ((row - this.window.top) / this.height) * height;
    if (this.#image) {
      const w = this.#image.window;
      c.drawImage(this.#image.canvas, x(w.left), y(w.top), x(w.right) - x(w.left), y(w.bottom) - y(w.top));
    }
    this.#drawCursor(x, y);
    this.#drawAxes();
  }

  #drawCursor(x, y) {
    const c = this.context, { row, col } = this.cursor;
    const scale = this.canvas.width / Math.max(1, this.canvas.clientWidth);
    const least = 7 * scale;
    let [l, t, w, h] = [x(col), y(row), x(col + 1) - x(col), y(row + 1) - y(row)];
    if (w < least) [l, w] = [l + w / 2 - least / 2, least];
    if (h < least) [t, h] = [t + h / 2 - least / 2, least];
    for (const [color, wide] of [["#000", 3], ["#fff", 1.2]]) {
      c.strokeStyle = color;
      c.lineWidth = wide * scale;
      c.strokeRect(l, t, w, h);
    }
  }

  #drawAxes() {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const x = [], y = [], left = this.axisY.clientWidth;
    const from = (v) => Math.max(0, Math.ceil(v - 0.5));
    for (const t of integerTicks(from(this.window.left), Math.min(this.cols - 1, this.window.right - 0.5), w / (indexWidth(this.cols) + 24))) {
      const at = ((t + 0.5 - this.window.left) / this.width) * w;
      x.push(el("line", { x1: at, x2: at, y1: 0, y2: 5, class: "tick" }), el("text", { x: at, y: 17, "text-anchor": "middle" }, count(t)));
    }
    x.push(el("text", { x: w / 2, y: 32, "text-anchor": "middle", class: "name" }, this.names[1]));
    this.axisX.replaceChildren(...x);
    if (this.rows > 1) {
      for (const t of integerTicks(from(this.window.top), Math.min(this.rows - 1, this.window.bottom - 0.5), h / 45)) {
        const at = ((t + 0.5 - this.window.top) / this.height) * h;
        y.push(el("line", { x1: left - 5, x2: left, y1: at, y2: at, class: "tick" }), el("text", { x: left - 8, y: at + 4, "text-anchor": "end" }, count(t)));
      }
      y.push(el("text", { transform: `translate(10 ${h / 2}) rotate(-90)`, "text-anchor": "middle", class: "name" }, this.names[0]));
    }
    this.axisY.replaceChildren(...y);
  }

  // drawBar draws the color bar. If low is high, it has the color of that value, and above it the color of larger values
  // if there are any.
  drawBar(answer, log) {
    const { low, high } = answer;
    const image = new ImageData(1, 256);
    for (let i = 0; i < 256; i++) {
      const k = high > low ? 255 - i : i < 128 && answer.histogram.high > high ? 255 : 0;
      image.data.set(answer.bar.subarray(4 * k, 4 * k + 4), 4 * i);
    }
    this.bar.getContext("2d").putImageData(image, 0, 0);
    const h = this.canvas.clientHeight;
    const [f, list] = log && high > low ? [Math.log, logTicks(low, high)] : [(v) => v, ticks(low, high, h / 45)];
    const at = (v) => (high > low ? h * (1 - portion(f(v), f(low), f(high))) : h / 2);
    const texts = labels(list), ends = endLabels(low, high);
    this.#widen(textWidth(texts) + 44);
    this.barAxis.replaceChildren(...list.flatMap((t, i) => [
      el("line", { x1: 0, x2: 5, y1: at(t), y2: at(t), class: "tick" }), el("text", { x: 8, y: at(t) + 4 }, texts[i]),
    ]));
    this.barAxis.setAttribute("aria-label", `Color bar from ${ends[0]} to ${ends[1]}${log ? ", logarithmic" : ""}`);
  }

  // #widen makes room on the right for the color bar. It takes none away until another array is opened, because another
  // size of the canvas needs another picture.
  #widen(width) {
    this.#right = Math.max(this.#right, width);
    this.canvas.closest("#figure").style.setProperty("--right", `${this.#right}px`);
  }

  // #item returns the item under the pointer, or null.
  #item(e) {
    const { row, col } = this.#point(e);
    const item = { row: Math.floor(row), col: Math.floor(col) };
    return item.row >= 0 && item.col >= 0 && item.row < this.rows && item.col < this.cols ? item : null;
  }

  #point(e) {
    const r = this.canvas.getBoundingClientRect();
    return {
      row: this.window.top + ((e.clientY - r.top) / r.height) * this.height,
      col: this.window.left + ((e.clientX - r.left) / r.width) * this.width,
    };
  }

  #down(e) {
    if (e.button !== 0) return;
    this.canvas.setPointerCapture(e.pointerId);
    this.#touches.set(e.pointerId, e);
    if (this.#touches.size > 1) {
      this.#stop();
      const start = this.#spread();
      this.#pinch = this.#touches.size > 2 ? null : { start, item: this.#point(start), height: this.height, width: this.width };
      return;
    }
    this.#drag = { x: e.clientX, y: e.clientY, window: { ...this.window }, moved: false };
  }

  // #spread returns the distance of two pointers and the place in the middle between them.
  #spread() {
    const [a, b] = [...this.#touches.values()];
    const clientX = (a.clientX + b.clientX) / 2, clientY = (a.clientY + b.clientY) / 2;
    return { distance: Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)), clientX, clientY };
  }

  // #lift forgets a pointer. After a pinch, the pointer that is left does nothing until it is lifted, too.
  #lift(e) {
    this.#touches.delete(e.pointerId);
    this.#pinch = null;
    this.#stop();
  }

  // #pinched moves and zooms, so that the item between two pointers at the start of the pinch stays there.
  #pinched() {
    const now = this.#spread(), { start, item, height, width } = this.#pinch, r = this.canvas.getBoundingClientRect();
    const h = (height * start.distance) / now.distance, w = (width * start.distance) / now.distance;
    const top = item.row - ((now.clientY - r.top) / r.height) * h, left = item.col - ((now.clientX - r.left) / r.width) * w;
    this.set({ top, bottom: top + h, left, right: left + w });
  }

  #move(e) {
    if (this.#touches.has(e.pointerId)) this.#touches.set(e.pointerId, e);
    if (this.#pinch) return this.#pinched();
    if (this.#touches.size && !this.#drag) return;
    const d = this.#drag;
    if (!d) {
      const item = this.#item(e);
      if (item) this.on.hovered(item.row, item.col);
      else this.on.left();
      return;
    }
    const dx = e.clientX - d.x, dy = e.clientY - d.y;
    if (!d.moved && Math.hypot(dx, dy) < 4) return;
    d.moved = true;
    this.canvas.classList.add("dragging");
    const y = (-dy / this.canvas.clientHeight) * this.height, x = (-dx / this.canvas.clientWidth) * this.width;
    this.set({ top: d.window.top + y, bottom: d.window.bottom + y, left: d.window.left + x, right: d.window.right + x });
  }

  #up(e) {
    const d = this.#drag;
    this.#lift(e);
    const item = this.#item(e);
    if (d && !d.moved && item) this.on.picked(item.row, item.col);
  }

  #stop() {
    this.#drag = null;
    this.canvas.classList.remove("dragging");
  }

  #wheel(e) {
    e.preventDefault();
    const lines = e.deltaMode === 1 ? e.deltaY * 30 : e.deltaY;
    const p = this.#point(e);
    this.zoom(1.0015 ** Math.max(-400, Math.min(400, lines)), p.row, p.col);
  }
}
