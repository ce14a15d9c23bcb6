// The rows of a table, or of an array of objects, a page at a time.
import { count } from "./svg.js";

const $ = (id) => document.getElementById(id);
export const pageRows = 40, pageCols = 16;

export class Sheet {
  #rows = 0;
  #columns = [];
  #at = [0, 0]; // the first row and column of the page

  // moved is called with the first row and column of another page.
  constructor(moved) {
    this.moved = moved;
    const step = (id, key) => $(id).addEventListener("click", () => this.#key(key));
    for (const [id, key] of [["rows-first", "Home"], ["rows-back", "PageUp"], ["rows-next", "PageDown"], ["rows-last", "End"]]) step(id, key);
    for (const [id, key] of [["cols-back", "ArrowLeft"], ["cols-next", "ArrowRight"]]) step(id, key);
    $("rows-go").addEventListener("change", () => this.#go(Math.round(Number($("rows-go").value) || 0), this.#at[1]));
    $("rows").addEventListener("keydown", (e) => {
      if (!e.ctrlKey && !e.metaKey && !e.altKey && !e.shiftKey && this.#key(e.key)) e.preventDefault();
    });
  }

  // open shows the page of a sheet at a position.
  open({ rows, columns }, at) {
    [this.#rows, this.#columns] = [rows, columns];
    this.#at = this.#inside(at[0] ?? 0, at[1] ?? 0);
    $("rows-go").max = Math.max(rows - 1, 0);
    $("cols-buttons").hidden = $("cols-help").hidden = columns.length <= pageCols;
    $("rows").replaceChildren();
    $("rows-text").textContent = "";
    this.moved(...this.#at);
  }

  // page returns the arguments that ask for the page.
  get page() {
    const [row, col] = this.#at;
    return { start: row, stop: Math.min(row + pageRows, this.#rows), first: col, last: Math.min(col + pageCols, this.#columns.length) };
  }

  // draw shows the answer for a page.
  draw({ start, stop, first, last }, { columns }) {
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    const heading = (row, scope, text) => {
      const th = document.createElement("th");
      [th.scope, th.textContent] = [scope, text];
      row.append(th);
      return th;
    };
    heading(head, "col", "row");
    for (const [name, kind] of this.#columns.slice(first, last)) {
      const small = document.createElement("small");
      small.textContent = kind;
      const th = heading(head, "col", name);
      th.title = name;
      th.append(small);
    }
    const body = table.createTBody();
    for (let i = start; i < stop; i++) {
      const row = body.insertRow();
      heading(row, "row", i);
      for (const { cells, fault } of columns) {
        const td = row.insertCell(), text = cells[i - start];
        td.textContent = fault ? "✗" : text ?? "null";
        td.title = fault || td.textContent;
        td.className = fault ? "fault" : text === null ? "null" : "";
      }
    }
    $("rows").replaceChildren(table);
    $("rows").scrollTop = 0;
    $("rows-go").value = start;
    const shown = this.#rows ? `Rows ${count(start)} to ${count(stop - 1)} of ${count(this.#rows)}` : "No rows";
    const part = last - first < this.#columns.length ? `, columns ${first} to ${last - 1} of ${this.#columns.length}` : "";
    const fault = columns.map((c, k) => c.fault && `${this.#columns[first + k][0]}: ${c.fault}`).find(Boolean);
    $("rows-text").textContent = `${shown}${part}.${fault ? ` ${fault}` : ""}`;
    $("rows").dataset.pages = 1 + Number($("rows").dataset.pages ?? 0);
    const off = (id, is) => $(id).setAttribute("aria-disabled", String(is)); // a button with the focus keeps it
    off("rows-first", start === 0);
    off("rows-back", start === 0);
    off("rows-next", stop === this.#rows);
    off("rows-last", stop === this.#rows);
    off("cols-back", first === 0);
    off("cols-next", last === this.#columns.length);
  }

  // #inside returns the first row and column of a page inside the sheet.
  #inside(row, col) {
    const clamp = (i, n) => Math.max(0, Math.min(i, n));
    return [clamp(row, this.#rows - 1), clamp(Math.floor(col / pageCols) * pageCols, this.#columns.length - 1)];
  }

  #go(row, col) {
    const to = this.#inside(row, col);
    if (to.join() === this.#at.join()) return;
    this.#at = to;
    this.moved(...to);
  }

  // #key handles a key, or returns false if it is another one.
  #key(key) {
    const [row, col] = this.#at, last = Math.max(0, Math.floor((this.#rows - 1) / pageRows) * pageRows);
    const to = {
      Home: [0, col], End: [last, col], PageUp: [row - pageRows, col], PageDown: [row + pageRows < this.#rows ? row + pageRows : row, col],
      ArrowLeft: this.#columns.length > pageCols && [row, col - pageCols], ArrowRight: this.#columns.length > pageCols && [row, Math.min(col + pageCols, this.#columns.length - 1)],
    }[key];
    if (!to) return false;
    this.#go(...to);
    return true;
  }
}
