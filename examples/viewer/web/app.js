// The page: it opens a file or URL, and connects the state, the controls and the worker.
import { drawChunks, drawHistogram, drawLine, drawTable } from "./charts.js";
import { Client, Latest } from "./client.js";
import { Controls } from "./controls.js";
import { Picture } from "./picture.js";
import { Sheet } from "./sheet.js";
import { defaults, format, parse, settle } from "./state.js";
import { bytes, count, endLabels } from "./svg.js";
import { Tree } from "./tree.js";

const $ = (id) => document.getElementById(id);
const firstBudget = 96 << 20; // bytes to decode for a picture
const mostLine = 1000; // values of a line
const tableRows = 12, tableCols = 8;

const client = new Client(fail);
const calls = { picture: new Latest(120), prefetch: new Latest(0), value: new Latest(0), line: new Latest(120), table: new Latest(120), chunks: new Latest(120), rows: new Latest(120) };
const picture = new Picture({ moved: () => array && ask(), picked: pick, hovered: hover, left: unhover });
const tree = new Tree((key) => select(key).catch(fail));
const sheet = new Sheet(turn);
const controls = new Controls({ changed, axes: changeAxes, index: changeIndex, near: approach });

let state = defaults();
let array = null; // what select returned
let budget = firstBudget;
let serial = 0; // of what was opened last
let shown = ""; // what the last picture was asked for
let moved = { axis: -1, by: 1 }; // the slider that moved last
let lastMs = 0;

function fail(error) {
  const text = String(error.message ?? error);
  $("error").textContent = text;
  $("error").hidden = false;
  $("status").textContent = "";
  idle();
}

// open opens {url} or {file}, and what the state selects in it.
async function open(source, next) {
  const mine = ++serial;
  for (const c of Object.values(calls)) c.cancel();
  idle();
  [state, array] = [next, null];
  forget();
  $("error").hidden = true;
  $("status").textContent = `Opening ${source.file?.name ?? source.url} …`;
  for (const id of ["side", "stage", "panels", "sheet", "contents"]) $(id).hidden = true;
  $("empty").hidden = false;
  tree.clear();
  try {
    const url = source.url && new URL(source.url, location.href).href;
    if (url && !/^https?:/.test(url)) throw new Error("The URL must begin with http:// or https://.");
    const doc = await client.call("open", { url: url ?? "", file: source.file ?? null });
    if (mine !== serial) return;
    document.title = `${source.file?.name ?? source.url} – Blosc2 viewer`;
    if (doc.store) await openStore(mine);
    else await select("");
  } catch (error) {
    if (mine === serial && !error.canceled) {
      record();
      fail(error);
    }
  }
}

// openStore lists a store, and opens the key of the state or the first one that can be shown.
async function openStore(mine) {
  $("contents").hidden = $("side").hidden = false;
  $("empty").hidden = true;
  let chosen = state.key ? select(state.key).catch((e) => mine === serial && fail(e)) : null;
  const walk = client.call("walk", {}, (entries) => {
    if (mine !== serial) return walk.cancel();
    tree.add(entries);
    tree.select(state.key);
    const first = entries.find((e) => e.shown);
    if (!chosen && first) chosen = select(first.key);
  });
  await walk;
  await chosen;
  if (mine !== serial) return;
  if (!chosen) fail("The store has nothing that the viewer shows.");
  status();
}

// select shows an array, a table or an array of objects.
async function select(key) {
  const mine = serial;
  if (array || !$("sheet").hidden) state = { ...state, axes: false, at: [], window: null, lineAxis: -1, range: null };
  state.key = key;
  tree.select(key);
  const answer = await client.call("select", { key });
  if (mine !== serial || state.key !== key) return;
  $("error").hidden = true;
  const isSheet = Boolean(answer.columns);
  if (isSheet || !array) {
    for (const c of Object.values(calls)) c.cancel(); // that are about another kind
    idle();
  }
  array = isSheet ? null : answer;
  forget();
  list($("info"), answer.info);
  list($("attributes"), answer.attributes);
  $("attributes-section").hidden = answer.attributes.length === 0;
  $("info-title").textContent = isSheet ? answer.info[0][1] : "Array";
  $("empty").hidden = true;
  $("side").hidden = false;
  $("sheet").hidden = !isSheet;
  for (const id of ["stage", "panels"]) $(id).hidden = isSheet;
  const title = [state.url.split(/[?#]/)[0].split("/").at(-1) || $("title").dataset.file || "", key].filter(Boolean).join(" · ");
  $("title").textContent = $("sheet-title").textContent = title;
  if (isSheet) return sheet.open(answer, state.at);
  settle(state, array.shape);
  show();
}

// turn shows the page of a sheet at a row and a column, which the state has as its position.
function turn(row, col) {
  state.at = [row, col];
  record();
  const page = sheet.page;
  calls.rows.run(() => client.call("rows", page), (answer) => {
    sheet.draw(page, answer);
    status();
  }, fail);
}

// list shows names and values.
function list(dl, pairs) {
  dl.replaceChildren(...pairs.flatMap(([name, value]) => {
    const dt = document.createElement("dt"), dd = document.createElement("dd");
    [dt.textContent, dd.textContent] = [name, value];
    return [dt, dd];
  }));
}

const rows = () => (state.row < 0 ? 1 : array.shape[state.row]);
const cols = () => array.shape[state.col];
const axisName = (axis) => (axis < 0 ? "" : `axis ${axis}`);
const cursor = () => ({ row: state.row < 0 ? 0 : state.at[state.row], col: state.at[state.col] });

// hasPicture reports whether there is something to draw.
const hasPicture = () => array.real && array.shape.length > 0 && array.shape.every((n) => n > 0);

// show shows the array of the state from the start: a picture, or only values.
function show() {
  [budget, shown] = [firstBudget, ""];
  moved = { axis: -1, by: 1 };
  controls.show(state, array.shape);
  const draws = hasPicture();
  const empty = array.shape.some((n) => n === 0);
  for (const id of ["figure", "help", "line-section", "histogram-section"]) $(id).hidden = !draws;
  $("figure").classList.toggle("strip", array.shape.length === 1);
  $("message").hidden = draws;
  $("message").textContent = empty ? "The array has no items."
    : array.shape.length === 0 ? "A single item: see its value." : `Items of dtype ${array.dtype} have no picture, as they are not numbers. Their values are in the table.`;
  $("table-panel").hidden = $("chunk-panel").hidden = empty || array.shape.length === 0;
  if (!draws && !empty && array.shape.length > 0) $("table-panel").open = true;
  picture.cursor = array.shape.length ? cursor() : { row: 0, col: 0 };
  if (draws) picture.open(rows(), cols(), state.window, [axisName(state.row), axisName(state.col)]);
  for (const id of ["map", "scale", "low", "high", "nan", "zoom-in"]) $(id).parentElement.hidden = !draws;
  if (draws) return ask(true);
  record();
  inspect();
  panels();
  status();
}

// request returns the arguments of a picture at a position.
function request(at) {
  const { canvas } = picture;
  return {
    row: state.row, col: state.col, at, ...picture.window, height: canvas.height, width: canvas.width, budget,
    map: state.map, log: state.scale === "log", percentile: state.scale === "percentile" ? state.percentile : null, range: state.range, nan: state.nan,
  };
}

// ask asks for the picture of the state, and if the cursor is on other items now, for their values after it.
let stale = false, asked = 0, busy = 0;
function ask(elsewhere = false) {
  if (!array || !hasPicture()) return;
  stale ||= elsewhere;
  picture.cursor = cursor();
  state.window = picture.isAll ? null : { ...picture.window };
  record();
  clearTimeout(busy); // of an earlier picture, which may never come
  busy = setTimeout(() => ($("busy").hidden = false), 150);
  const mine = ++asked;
  const started = performance.now();
  const args = request([...state.at]);
  calls.picture.run(() => client.call("picture", args), (answer) => {
    picture.show(answer, { top: args.top, left: args.left, bottom: args.bottom, right: args.right }, args.width, args.height);
    picture.drawBar(answer, args.log);
    drawHistogram($("histogram"), $("histogram-text"), answer);
    controls.limits(answer.low, answer.high);
    explain(answer);
    $("error").hidden = true;
    lastMs = performance.now() - started;
    picture.canvas.setAttribute("aria-label", describe(answer, args));
    picture.canvas.dataset.pictures = 1 + Number(picture.canvas.dataset.pictures ?? 0);
    picture.canvas.dataset.at = args.at.join(",");
    picture.canvas.dataset.milliseconds = lastMs.toFixed(1);
    done(mine);
    if (stale) {
      stale = false;
      inspect();
      panels();
    }
    prefetch();
  }, (error) => {
    picture.clear();
    done(mine);
    fail(error);
  });
  calls.prefetch.cancel(); // after the picture, which may be waiting for the same plane
}

// done ends the wait for a picture, unless another one was asked for.
function done(mine) {
  if (mine === asked) idle();
  status();
}

function idle() {
  clearTimeout(busy);
  $("busy").hidden = true;
}

// prefetch draws the picture that the slider may come to next.
function prefetch() {
  const { axis, by } = moved;
  if (axis < 0) return;
  const at = [...state.at];
  at[axis] += by;
  if (at[axis] < 0 || at[axis] >= array.shape[axis]) return;
  const args = request(at);
  calls.prefetch.run(() => client.call("prefetch", args), () => {}, () => {});
}

// approach draws the next picture when the pointer or the focus comes to a slider, so that its first step is fast, too.
function approach(axis) {
  if (!array || !hasPicture() || moved.axis === axis) return;
  moved = { axis, by: state.at[axis] + 1 < array.shape[axis] ? 1 : -1 };
  prefetch();
}

// explain says how the picture was sampled.
function explain(answer) {
  const { rowStep, colStep, limited } = answer;
  $("limited").hidden = !(limited || rowStep > 1 || colStep > 1);
  $("refine").hidden = !limited;
  const every = state.row < 0 ? count(colStep) : `${count(rowStep)} × ${count(colStep)}`;
  $("limited-text").textContent = `The picture shows one of every ${every} items${limited ? `, to decode at most ${bytes(budget)}` : ""}. Zoom in for more.`;
}

// describe returns the picture in words.
function describe(answer, args) {
  const where = args.at.map((i, axis) => (axis === args.row || axis === args.col ? null : `axis ${axis} at ${i}`)).filter(Boolean);
  const [low, high] = endLabels(answer.low, answer.high);
  return `Heat map of ${count(rows())} rows and ${count(cols())} columns${where.length ? `, ${where.join(", ")}` : ""}, values from ${low} to ${high}`;
}

async function status() {
  const s = await client.call("stats", {});
  const time = array && hasPicture() ? ` · picture in ${Math.round(lastMs)} ms` : "";
  $("status").textContent = `${count(s.requests)} request${s.requests === 1 ? "" : "s"}, ${bytes(s.bytes)} read${time}`;
}

// inspect shows the value, and with a delay the line, at a position: the pointer, or else the cursor.
let inspectTimer = 0;
function inspect(at = state.at, line = true) {
  if (!array || array.shape.some((n) => n === 0)) return;
  const position = [...at];
  clearTimeout(inspectTimer);
  inspectTimer = setTimeout(() => {
    if (!array) return;
    const from = array;
    const write = (text) => array === from && ($("readout").textContent = text);
    calls.value.run(() => client.call("value", { at: position }), ({ text }) => write(`[${position.join(", ")}]\n${text}`), (e) => write(e.message));
    if (!line || !hasPicture()) return;
    const axis = state.lineAxis;
    calls.line.run(() => client.call("line", { at: position, axis, most: mostLine, budget: firstBudget }), (answer) => {
      const { buffer, byteOffset, byteLength } = answer.values;
      drawLine($("line"), new Float64Array(buffer, byteOffset, byteLength / 8), answer.step, position[axis], axis);
      status();
    }, (e) => { $("line").replaceChildren(); $("line").setAttribute("aria-label", e.message); });
  }, 40);
}

// forget removes the value of an array that is no longer shown, and cancels the call for one.
function forget() {
  clearTimeout(inspectTimer);
  calls.value.cancel();
  $("readout").textContent = "";
}

// place returns the position of an item of the plane.
function place(row, col) {
  const at = [...state.at];
  if (state.row >= 0) at[state.row] = row;
  at[state.col] = col;
  return at;
}

function pick(row, col) {
  state.at = place(row, col);
  picture.cursor = cursor();
  picture.draw();
  record();
  inspect();
  panels();
}

function hover(row, col) {
  $("readout").setAttribute("aria-live", "off");
  inspect(place(row, col));
}

function unhover() {
  $("readout").setAttribute("aria-live", "polite");
  inspect();
}

// panels fills the panels that are open.
function panels() {
  if (!array || array.shape.length === 0 || array.shape.some((n) => n === 0)) return;
  const args = { row: state.row, col: state.col, at: [...state.at] };
  const here = cursor();
  if ($("table-panel").open) {
    const first = { row: Math.max(0, Math.min(here.row - 5, rows() - tableRows)), col: Math.max(0, Math.min(here.col - 3, cols() - tableCols)) };
    calls.table.run(() => client.call("table", { ...args, top: first.row, left: first.col, rows: tableRows, cols: tableCols }),
      (answer) => drawTable($("table"), answer, first, here, [axisName(state.row), axisName(state.col)], pick), (e) => ($("table").textContent = e.message));
  }
  if ($("chunk-panel").open) {
    calls.chunks.run(() => client.call("chunks", args), (map) => drawChunks($("chunks"), $("chunks-text"), map, here, goTo), (e) => ($("chunks-text").textContent = e.message));
  }
}

// goTo moves the cursor to an item and shows it.
function goTo(row, col) {
  state.at = place(Math.max(0, Math.min(row, rows() - 1)), Math.max(0, Math.min(col, cols() - 1)));
  picture.cursor = cursor();
  if (hasPicture()) picture.reveal();
  record();
  inspect();
  panels();
}

// changed is called after the style, the line axis or the zoom was changed by a control.
function changed(what) {
  if (!array) return;
  if (what === "line") {
    record();
    inspect();
  } else ask();
}

// changeAxes shows another plane through the same position.
function changeAxes() {
  state.window = null;
  show();
}

// changeIndex moves to another plane.
function changeIndex(axis, index) {
  moved = { axis, by: index < state.at[axis] ? -1 : 1 };
  state.at[axis] = index;
  if (hasPicture()) return ask(true);
  record();
  inspect();
  panels();
}

// record writes the state to the URL, not more often than browsers allow.
let recordTimer = 0;
function record() {
  clearTimeout(recordTimer);
  recordTimer = setTimeout(() => {
    const hash = format(state);
    if (hash !== location.hash) history.replaceState(null, "", hash || location.pathname + location.search);
  }, 250);
}

function openHash() {
  const next = parse(location.hash);
  $("url").value = next.url;
  if (next.url) open({ url: next.url }, next);
}

function openFile(file) {
  $("url").value = "";
  $("title").dataset.file = file.name;
  history.replaceState(null, "", location.pathname + location.search);
  open({ file }, defaults());
}

$("open").addEventListener("submit", (e) => {
  e.preventDefault();
  const url = $("url").value.trim();
  if (url) open({ url }, { ...defaults(), url });
});
$("file").addEventListener("change", (e) => {
  if (e.target.files[0]) openFile(e.target.files[0]);
  e.target.value = "";
});
addEventListener("hashchange", openHash);
addEventListener("dragover", (e) => {
  e.preventDefault();
  document.body.classList.add("drop");
});
addEventListener("dragleave", (e) => e.relatedTarget || document.body.classList.remove("drop"));
addEventListener("drop", (e) => {
  e.preventDefault();
  document.body.classList.remove("drop");
  if (e.dataTransfer.files[0]) openFile(e.dataTransfer.files[0]);
});
$("refine").addEventListener("click", () => {
  budget *= 8;
  ask();
});
for (const id of ["table-panel", "chunk-panel"]) $(id).addEventListener("toggle", panels);
$("zoom-in").addEventListener("click", () => picture.zoom(1 / 1.5));
$("zoom-out").addEventListener("click", () => picture.zoom(1.5));
$("zoom-all").addEventListener("click", () => picture.showAll());
const arrows = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
picture.canvas.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || !array) return;
  const arrow = arrows[e.key];
  const { row, col } = cursor();
  if (arrow && e.shiftKey) picture.pan(arrow[0] / 8, arrow[1] / 8);
  else if (arrow) goTo(row + arrow[0] * picture.steps.row, col + arrow[1] * picture.steps.col);
  else if (e.key === "+" || e.key === "=") picture.zoom(1 / 1.5);
  else if (e.key === "-") picture.zoom(1.5);
  else if (e.key === "0") picture.showAll();
  else if (e.key === "PageUp") controls.step(-1);
  else if (e.key === "PageDown") controls.step(1);
  else return;
  e.preventDefault();
});
$("table").addEventListener("keydown", (e) => {
  const arrow = arrows[e.key];
  if (!arrow || e.ctrlKey || e.metaKey || e.altKey || !array) return;
  goTo(cursor().row + arrow[0], cursor().col + arrow[1]);
  e.preventDefault();
});

openHash();
