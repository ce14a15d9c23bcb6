// The controls above and below the picture.
import { count, endLabels } from "./svg.js";

const $ = (id) => document.getElementById(id);

export class Controls {
  #state;
  #shape = [];
  #sliders = [];
  #limits = [NaN, NaN]; // of the colors of the last picture

  // on has the functions changed(what), axes(), index(axis, index) and near(axis), which is called before an index changes.
  constructor(on) {
    this.on = on;
    for (const id of ["row", "col"]) $(id).addEventListener("change", () => this.#swap(id, Number($(id).value)));
    for (const id of ["map", "scale"]) {
      $(id).addEventListener("change", () => {
        this.#state[id] = $(id).value;
        $("percentile-label").hidden = this.#state.scale !== "percentile";
        on.changed(id);
      });
    }
    $("nan").addEventListener("input", () => {
      this.#state.nan = $("nan").value.slice(1);
      on.changed("nan");
    });
    $("percentile").addEventListener("change", () => {
      const p = $("percentile").value.split(",").map(Number);
      const valid = p.length === 2 && p[0] >= 0 && p[0] <= p[1] && p[1] <= 100;
      $("percentile").setAttribute("aria-invalid", String(!valid));
      if (valid) {
        this.#state.percentile = p;
        on.changed("percentile");
      }
    });
    for (const id of ["low", "high"]) $(id).addEventListener("change", () => this.#range(id));
    $("line-axis").addEventListener("change", () => {
      this.#state.lineAxis = Number($("line-axis").value);
      on.changed("line");
    });
  }

  // show shows the state of an array with a shape.
  show(state, shape) {
    [this.#state, this.#shape, this.#limits] = [state, shape, [NaN, NaN]];
    const axes = shape.map((_, axis) => axis);
    const options = (select, list, chosen) => {
      select.replaceChildren(...list.map((axis) => new Option(`axis ${axis}`, axis, false, axis === chosen)));
      select.disabled = list.length < 2;
    };
    options($("row"), axes, state.row);
    options($("col"), axes, state.col);
    options($("line-axis"), axes, state.lineAxis);
    $("row").closest("label").hidden = $("col").closest("label").hidden = shape.length < 2;
    [$("map").value, $("scale").value, $("nan").value, $("percentile").value] = [state.map, state.scale, `#${state.nan}`, state.percentile.join(", ")];
    $("percentile-label").hidden = state.scale !== "percentile";
    [$("low").value, $("high").value] = state.range ?? ["", ""];
    this.#sliders = axes.filter((axis) => axis !== state.row && axis !== state.col && shape.length > 1).map((axis) => this.#slider(axis));
    $("sliders").replaceChildren(...this.#sliders.map((s) => s.place));
    $("controls").hidden = shape.length === 0;
  }

  // limits shows the range of the colors, where the user has set none.
  limits(low, high) {
    this.#limits = [low, high];
    [$("low").placeholder, $("high").placeholder] = endLabels(low, high);
  }

  // step moves the first slider.
  step(by) {
    const s = this.#sliders[0];
    if (s) s.set(this.#state.at[s.axis] + by);
  }

  #slider(axis) {
    const place = document.createElement("div"), range = document.createElement("input"), number = document.createElement("input");
    const name = document.createElement("span");
    place.className = "slider";
    name.textContent = `axis ${axis} of ${count(this.#shape[axis])}`;
    for (const [input, type] of [[range, "range"], [number, "number"]]) {
      Object.assign(input, { type, min: 0, max: this.#shape[axis] - 1, step: 1, value: this.#state.at[axis] });
      input.setAttribute("aria-label", `Index of axis ${axis}${type === "number" ? ", as a number" : ""}`);
      input.dataset.axis = axis;
    }
    const set = (value) => {
      const i = Math.max(0, Math.min(this.#shape[axis] - 1, Math.round(Number(value) || 0)));
      range.value = number.value = i;
      if (i !== this.#state.at[axis]) this.on.index(axis, i);
    };
    for (const event of ["pointerenter", "focus"]) range.addEventListener(event, () => this.on.near(axis));
    range.addEventListener("input", () => set(range.value));
    number.addEventListener("change", () => set(number.value));
    place.append(name, range, number);
    return { axis, place, set };
  }

  // #swap gives the plane another axis. If the plane has it already, the two axes change places.
  #swap(id, axis) {
    const s = this.#state, other = id === "row" ? "col" : "row";
    if (s[other] === axis) s[other] = s[id];
    s[id] = axis;
    this.on.axes();
  }

  // #range sets a fixed range of colors. If one end is empty, it is that of the last picture, with all digits.
  #range(changed) {
    const read = (id) => ($(id).value.trim() === "" ? NaN : Number($(id).value));
    let [low, high] = [read("low"), read("high")];
    if (Number.isNaN(low) && Number.isNaN(high) && $("low").value.trim() === "" && $("high").value.trim() === "") this.#state.range = null;
    else {
      if ($("low").value.trim() === "") low = this.#limits[0];
      if ($("high").value.trim() === "") high = this.#limits[1];
      const valid = Number.isFinite(low) && Number.isFinite(high) && low <= high;
      $(changed).setAttribute("aria-invalid", String(!valid));
      if (!valid) return;
      this.#state.range = [low, high];
      [$("low").value, $("high").value] = this.#state.range;
    }
    for (const id of ["low", "high"]) $(id).removeAttribute("aria-invalid");
    this.on.changed("range");
  }
}
