// The line plot, the histogram, the chunk map and the table of values.
import { bytes, count, el, endLabels, integerTicks, label, labels, portion, textWidth, ticks } from "./svg.js";

const right = 6, top = 6, bottom = 20;

// frame clears an SVG element and returns the functions that map values to its places.
function frame(svg, x0, x1, y0, y1, xTicks) {
  const w = svg.clientWidth || 260, h = svg.clientHeight || 130;
  const rows = ticks(y0, y1, 5), rowLabels = labels(rows);
  const left = Math.max(54, textWidth(rowLabels) + 8);
  const x = (v) => left + portion(v, x0, x1) * (w - left - right);
  const y = (v) => h - bottom - portion(v, y0, y1) * (h - top - bottom);
  svg.replaceChildren();
  rows.forEach((t, i) => {
    svg.append(el("line", { x1: left, x2: w - right, y1: y(t), y2: y(t), class: "tick" }), el("text", { x: left - 5, y: y(t) + 4, "text-anchor": "end" }, rowLabels[i]));
  });
  // As many labels as have room below the plot, and as are within the element.
  let cols, colLabels, wide;
  for (let n = 5; n > 0; n--) {
    cols = xTicks(x0, x1, n);
    [colLabels, wide] = [labels(cols), textWidth(labels(cols))];
    if (cols.length < 2 || x(cols[1]) - x(cols[0]) >= wide + 6) break;
  }
  cols.forEach((t, i) => svg.append(el("text", { x: Math.max(wide / 2, Math.min(w - wide / 2, x(t))), y: h - 5, "text-anchor": "middle" }, colLabels[i])));
  return { x, y, h };
}

// drawLine draws the values along an axis, with a mark at the cursor. A gap is drawn for what is not finite.
export function drawLine(svg, values, step, at, axis) {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (Number.isFinite(v)) [low, high] = [Math.min(low, v), Math.max(high, v)];
  if (low > high) {
    svg.replaceChildren(el("text", { x: 10, y: 24 }, "no finite values"));
    svg.setAttribute("aria-label", `Line along axis ${axis}: no finite values`);
    return;
  }
  const pad = high > low ? 0 : Math.max(Math.abs(low) * 1e-3, 1e-3);
  const last = Math.max(1, (values.length - 1) * step);
  const most = Number.MAX_VALUE;
  const { x, y, h } = frame(svg, 0, last, Math.max(-most, low - pad), Math.min(most, high + pad), integerTicks);
  let path = "", open = false;
  values.forEach((v, i) => {
    if (Number.isFinite(v)) path += `${open ? "L" : "M"}${x(i * step).toFixed(2)} ${y(v).toFixed(2)}`;
    open = Number.isFinite(v);
  });
  svg.append(el("path", { d: path, class: "data" }));
  if (values.length <= 40) values.forEach((v, i) => Number.isFinite(v) && svg.append(el("circle", { cx: x(i * step), cy: y(v), r: 2, class: "dots" })));
  svg.append(el("line", { x1: x(at), x2: x(at), y1: top, y2: h - bottom, class: "mark" }));
  const every = step > 1 ? `, every ${count(step)}th` : "";
  const ends = endLabels(low, high);
  svg.setAttribute("aria-label", `Line along axis ${axis}: ${count(values.length)} values from ${ends[0]} to ${ends[1]}${every}`);
}

// drawHistogram draws the counts of a picture, with marks at the ends of its colors.
export function drawHistogram(svg, note, answer) {
  const { low, high, counts, nan, infinite } = answer.histogram;
  const total = counts.reduce((a, b) => a + b, 0);
  const most = Math.max(...counts, 1);
  const { x, y } = frame(svg, low, high, 0, most, ticks);
  const wide = counts.length;
  const edge = (i) => low * (1 - i / wide) + high * (i / wide);
  let path = "";
  if (high > low) counts.forEach((n, i) => n && (path += `M${x(edge(i))} ${y(0)}V${y(n)}H${x(edge(i + 1))}V${y(0)}Z`));
  else path = `M${x(low)} ${y(0)}V${y(total)}h12V${y(0)}Z`;
  svg.append(el("path", { d: path, class: "data" }));
  for (const v of [answer.low, answer.high]) if (v > low && v < high) svg.append(el("line", { x1: x(v), x2: x(v), y1: top, y2: y(0), class: "mark" }));
  const rest = [nan && `${count(nan)} NaN`, infinite && `${count(infinite)} infinite`].filter(Boolean).map((t) => `, ${t}`).join("");
  note.textContent = total ? `${count(total)} values shown, ${high > low ? endLabels(low, high).join(" to ") : `all ${label(low)}`}${rest}` : `no finite values${rest}`;
  svg.setAttribute("aria-label", `Histogram: ${note.textContent}`);
}

// drawChunks draws a chunk map. picked is called with the row and column of the first item of a chunk.
export function drawChunks(svg, note, map, cursor, picked) {
  const { rows, cols, cells } = map;
  svg.setAttribute("viewBox", `-0.5 -0.5 ${cols * 10 + 1} ${rows * 10 + 1}`);
  svg.setAttribute("preserveAspectRatio", "xMidYMid meet");
  svg.style.height = `${Math.max(24, Math.min(240, (270 * rows) / cols, 60 * rows))}px`;
  const data = cells.filter((c) => !c.special);
  const ratio = (c) => c.nbytes / Math.max(c.cbytes, 1);
  const most = Math.max(1.01, ...data.map(ratio));
  const color = getComputedStyle(document.documentElement).getPropertyValue("--cell");
  const here = [Math.floor(cursor.row / map.chunkRows) - map.top, Math.floor(cursor.col / map.chunkCols) - map.left];
  let mark = null;
  svg.replaceChildren(...cells.map((c, i) => {
    const [r, k] = [Math.floor(i / cols), i % cols];
    const size = c.special || `${bytes(c.cbytes)} for ${bytes(c.nbytes)}, ratio ${ratio(c).toFixed(2)}, ${c.coding}`;
    const rect = el("rect", { x: k * 10, y: r * 10, width: 10, height: 10, class: c.special ? "special" : "" });
    if (!c.special) rect.setAttribute("fill", `rgba(${color}, ${(1 - (0.75 * Math.log(Math.max(ratio(c), 1))) / Math.log(most)).toFixed(3)})`);
    rect.append(el("title", {}, `chunk ${c.number}: ${size}`));
    rect.addEventListener("click", () => picked((map.top + r) * map.chunkRows, (map.left + k) * map.chunkCols));
    if (r === here[0] && k === here[1]) mark = el("rect", { x: k * 10, y: r * 10, width: 10, height: 10, fill: "none", class: "here" });
    return rect;
  }));
  if (mark) svg.append(mark);
  const all = map.allRows * map.allCols;
  const shown = all > cells.length ? `${count(cells.length)} of ${count(all)} chunks` : `${count(all)} chunk${all === 1 ? "" : "s"}`;
  const special = cells.length - data.length;
  const stored = data.reduce((n, c) => n + c.cbytes, 0), decoded = data.reduce((n, c) => n + c.nbytes, 0);
  note.textContent = `${shown}${special ? `, ${count(special)} without data (light)` : ""}. `
    + (data.length ? `${bytes(stored)} stored for ${bytes(decoded)}; the darker, the less compressed.` : "");
  svg.setAttribute("aria-label", `Chunk map: ${note.textContent}`);
}

// drawTable shows items as text. picked is called with the row and column of an item.
export function drawTable(place, answer, first, cursor, names, picked) {
  const table = document.createElement("table");
  const cell = (row, tag, text) => {
    const e = document.createElement(tag);
    e.textContent = text;
    if (tag === "td") e.title = text;
    row.append(e);
    return e;
  };
  const head = table.createTHead().insertRow();
  cell(head, "th", names[0] === "" ? names[1] : `${names[0]} \\ ${names[1]}`);
  for (let k = 0; k < answer.cols; k++) cell(head, "th", first.col + k).scope = "col";
  const body = table.createTBody();
  for (let r = 0; r < answer.rows; r++) {
    const row = body.insertRow();
    cell(row, "th", names[0] === "" ? "" : first.row + r).scope = "row";
    for (let k = 0; k < answer.cols; k++) {
      const e = cell(row, "td", answer.text[r * answer.cols + k]);
      e.addEventListener("click", () => picked(first.row + r, first.col + k));
      if (first.row + r === cursor.row && first.col + k === cursor.col) e.className = "here";
    }
  }
  place.replaceChildren(table);
  const here = table.querySelector(".here");
  if (here) place.scrollLeft = Math.max(0, here.offsetLeft + here.offsetWidth - place.clientWidth);
}
