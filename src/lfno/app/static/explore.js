// The twelve systems: move the amplitude, watch truth and models.

import { ColourBar, colourRange, FieldMap } from "./maps.js";
import { LineChart } from "./plot.js";
import { poleTable, SPlane } from "./splane.js";
import { ask, axisLabel, byId, complain, el, key, latest, number, percent, points, unpack } from "./tools.js";

const MODELS = { LFNO: "lfno", FNO: "fno", LNO: "lno", yours: "yours" };
const GREEK = { alpha: "α", beta: "β", gamma: "γ", rho: "ρ", sigma: "σ", nu: "ν", D0: "D₀", D1: "D₁", u0: "u₀", v0: "v₀" };
const hidden = new Set();
let systems = [];
let system = null;
let found = null; // the newest answer, unpacked
let view = null; // the charts of this kind of system
let polesOf = "LFNO";

export async function start() {
  systems = (await ask("systems")).systems;
  const side = byId("systems");
  let group = "";
  for (const one of systems) {
    if (one.group !== group) side.append(el("h2", {}, (group = one.group)));
    side.append(el("button", { type: "button", "data-name": one.name, onclick: () => choose(one.name) }, one.title));
  }
  byId("amount").addEventListener("input", (event) => move(event.target.valueAsNumber));
  byId("amount-number").addEventListener("change", (event) => move(event.target.valueAsNumber));
  byId("amount").addEventListener("keydown", leap);
  const [name, value] = decodeURIComponent(location.hash.slice(1)).split("=");
  await choose(systems.some((one) => one.name === name) ? name : "duffing-c05", value);
}

/** The system on the page, for the training panel. */
export const current = () => system;
export const refresh = () => explore(byId("amount-number").valueAsNumber);

function leap(event) {
  const many = { PageUp: 10, PageDown: -10 }[event.key];
  if (!many) return;
  event.preventDefault();
  move(byId("amount").valueAsNumber + many * system.slider.step);
}

export async function choose(name, value) {
  system = systems.find((one) => one.name === name);
  for (const button of byId("systems").querySelectorAll("button")) button.setAttribute("aria-current", button.dataset.name === name);
  byId("title").textContent = system.title;
  byId("equation").textContent = system.equation;
  const values = Object.entries(system.values).filter(([key]) => key !== "discretisation").map(([key, given]) => `${GREEK[key] ?? key} = ${typeof given === "number" ? number(given, 4) : given}`);
  byId("conditions").textContent = `${system.conditions};  ${values.join(", ")}`;
  byId("note").hidden = !system.note;
  byId("note").textContent = system.note;
  const { low, high, step, least, most } = system.slider;
  byId("amount-name").textContent = system.slider.name;
  byId("amount").setAttribute("aria-label", `${system.slider.name}, from ${low} to ${high}`);
  Object.assign(byId("amount"), { min: low, max: high, step });
  Object.assign(byId("amount-number"), { min: least, max: most });
  build();
  const given = Number.parseFloat(value);
  document.dispatchEvent(new CustomEvent("system", { detail: system }));
  await move(Number.isFinite(given) ? given : system.slider.value);
}

async function move(value) {
  if (!Number.isFinite(value)) return;
  const rounded = Number(value.toFixed(6));
  byId("amount").value = rounded;
  byId("amount").setAttribute("aria-valuetext", `${system.slider.name} = ${rounded}`);
  byId("amount-number").value = rounded;
  await explore(rounded);
}

const explore = latest(async (value) => {
  const name = system.name;
  const slow = setTimeout(() => {
    byId("status").textContent = "solving…";
    document.body.classList.add("busy");
  }, 250);
  try {
    const start = performance.now();
    const answer = await ask("explore", { system: name, value });
    if (name !== system.name) return;
    complain(null);
    found = opened(answer);
    show();
    history.replaceState(null, "", `#${name}=${value}`);
    report(answer, performance.now() - start);
  } catch (error) {
    complain(error);
    byId("status").textContent = "";
  } finally {
    clearTimeout(slow);
    document.body.classList.remove("busy");
  }
});

function report(answer, total) {
  const { name, low, high } = system.slider;
  const beyond = answer.trained ? "" : `${name} is outside the range of training, ${number(low)} to ${number(high)}. `;
  const models = Object.keys(answer.models).length ? `, models ${number(answer.models_ms, 2)} ms` : "";
  byId("status").textContent = `${beyond}truth ${answer.solve_ms < 0.5 ? "already solved" : `${number(answer.solve_ms, 2)} ms`}${models}`;
  document.body.dataset.shown = `${system.name}=${answer.value}`;
  document.body.dataset.took = String(Math.round(total));
}

function opened(answer) {
  const models = {};
  for (const [name, one] of Object.entries(answer.models)) {
    const arrays = ["prediction", "transient", "steady"].filter((key) => one[key]).map((key) => [key, unpack(one[key])]);
    models[name] = { ...one, ...Object.fromEntries(arrays) };
  }
  return { ...answer, input: unpack(answer.input), truth: unpack(answer.truth), models };
}

// -- panels ------------------------------------------------------------------------------------------------------

function build() {
  for (const id of ["response", "split", "errors", "poles"]) byId(id).replaceChildren();
  const one = system.grid.length === 1;
  byId("response").append(el("header", {}, el("h2", {}, "Response"), el("div", { class: "chips", id: "chips" }), el("span", { class: "grow" }), el("span", { id: "frame" })));
  byId("split").append(el("header", {}, el("h2", {}, "Transient + steady of LFNO"), key("transient", "transient"), key("steady", "steady"), key("lfno", "sum"),
    el("span", { class: "grow" }), el("span", { class: "muted small", id: "split-words" })), el("p", { class: "note", id: "split-caveat" }));
  byId("errors").append(el("header", {}, el("h2", {}, "Error at this amplitude")), el("div", { class: "scroll", id: "error-table" }));
  byId("poles").append(el("header", {}, el("h2", {}, "Poles of the layers"), el("span", { class: "grow" }), el("span", { class: "segments", id: "poles-of" })), el("p", { class: "note small", id: "poles-caveat" }));
  byId("main").classList.toggle("alone", !system.models.length);
  byId("split").hidden = byId("errors").hidden = byId("poles").hidden = !system.models.length;
  view = one ? new Curves() : new Fields();
  view.plane = new SPlane(byId("poles"), 290);
  byId("poles").append(el("p", { class: "muted small" }, "area: how much a pole rings for this input, as a share of its layer"), el("div", { class: "scroll", id: "pole-table" }));
}

function show() {
  chips();
  view.show();
  errorTable();
  poles();
}

const outputLabel = () => axisLabel(...system.output[0]);
const inputLabel = () => axisLabel(...system.input.at(-1));
const shown = (name) => !hidden.has(name);
const names = () => Object.keys(found.models);

function chips() {
  const list = [["truth", "truth", ""], ...names().map((name) => [name, MODELS[name], percent(found.models[name].l2)])];
  const before = document.activeElement?.dataset?.curve;
  byId("chips").replaceChildren(...list.map(([name, mark, error]) =>
    el("button", { type: "button", class: "chip", "data-curve": name, "aria-pressed": String(shown(name)), onclick: () => toggle(name) }, el("i", { mark }), name, error ? el("span", { class: "muted" }, error) : null)));
  if (before) byId("chips").querySelector(`[data-curve="${before}"]`)?.focus();
}

function toggle(name) {
  if (!hidden.delete(name)) hidden.add(name);
  show();
}

function errorTable() {
  const rows = names().map((name) => [name, found.models[name]]);
  const best = Math.min(...rows.map(([, one]) => one.l2));
  const [floor, ceiling] = [1e-5, 1];
  const length = (value) => `${Math.max(3, 100 * Math.min(1, Math.log(value / floor) / Math.log(ceiling / floor)))}%`;
  const body = rows.map(([name, one]) => {
    const bar = el("div", { mark: MODELS[name] });
    bar.style.width = length(one.l2 || floor);
    return el("tr", { class: one.l2 === best && rows.length > 1 ? "best" : null },
      el("td", {}, el("span", { class: "swatch", mark: MODELS[name] }), name), el("td", { class: "bar" }, bar),
      el("td", {}, percent(one.l2)), el("td", {}, percent(one.linf)), el("td", { class: "muted" }, one.parameters.toLocaleString("en")));
  });
  const heads = ["", "", "rel. L2", "rel. L∞", "weights"].map((text) => el("th", { scope: "col" }, text));
  byId("error-table").replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...body)),
    el("p", { class: "muted small legend-line" }, "bars: L2 on a logarithmic scale, 0.001 % to 100 %"));
}

function poles() {
  const having = names().filter((name) => found.models[name].poles);
  byId("poles").hidden = !having.length;
  if (!having.length) return;
  if (!having.includes(polesOf)) polesOf = having[0];
  byId("poles-of").replaceChildren(...having.map((name) =>
    el("button", { type: "button", "aria-pressed": String(name === polesOf), onclick: () => { polesOf = name; poles(); } }, name)));
  const table = found.models[polesOf].poles;
  told("poles-caveat", found.models[polesOf].caveat);
  view.plane.set(table, MODELS[polesOf]);
  byId("pole-table").replaceChildren(poleTable(table, view.plane));
}

/** The largest of the neighbours of each value: a curve that can be read where the error itself swings through zero. */
function envelope(values) {
  const reach = Math.ceil(values.length / 120);
  return values.map((_, n) => Math.max(...values.subarray(Math.max(0, n - reach), n + reach + 1)));
}

const difference = (prediction, truth) => prediction.map((value, n) => Math.abs(value - truth[n]));

/** Draw the truth first and broad, so that models that agree with it lie inside its line. */
function overlay(get) {
  const truth = shown("truth") ? [{ name: "truth", y: get(found.truth), width: 3.4 }] : [];
  const order = names().filter(shown).reverse();
  return [...truth, ...order.map((name) => ({ name: MODELS[name], label: name, y: get(found.models[name].prediction), width: 1.5 }))];
}

function told(id, words) {
  byId(id).textContent = words;
  byId(id).hidden = !words;
}

function splitWords(split) {
  const power = (values) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  const share = power(split.transient.values) / power(split.prediction.values);
  told("split-caveat", split.caveat);
  byId("split-words").textContent = `rms of the transient: ${percent(share)} of the prediction's`;
}

class Curves {
  constructor() {
    const group = [];
    const box = byId("response");
    this.input = new LineChart(box, { height: 82, yLabel: "", group, title: "Input" });
    this.response = new LineChart(box, { height: 270, yLabel: "", group, title: "Response" });
    this.error = new LineChart(box, { height: 120, yLabel: "max |error|", y: "log", group, xLabel: axisLabel(system.grid[0].name, system.grid[0].unit), title: "Error" });
    this.parts = new LineChart(byId("split"), { height: 200, yLabel: "", xLabel: axisLabel(system.grid[0].name, system.grid[0].unit), title: "Transient and steady" });
  }

  show() {
    const x = points(found.axes[0]);
    const get = (array) => array.values;
    this.input.set(x, [{ name: "input", label: system.input.at(-1)[0], y: found.input.values, width: 1.3 }], { yLabel: inputLabel(), least: found.input_range });
    this.response.set(x, overlay(get), { yLabel: outputLabel() });
    const errors = names().filter(shown).reverse();
    this.error.set(x, errors.map((name) => ({ name: MODELS[name], label: name, y: envelope(difference(found.models[name].prediction.values, found.truth.values)), width: 1.5 })));
    const split = found.models.LFNO;
    if (!split) return;
    splitWords(split);
    this.parts.set(x, [
      { name: "lfno", label: "LFNO", y: split.prediction.values, width: 1, dash: [3, 3] },
      { name: "steady", y: split.steady.values }, { name: "transient", y: split.transient.values },
    ], { yLabel: outputLabel() });
  }
}

/** (x, t) as a map over t and x; (x, y, t) as a map over x and y at one moment. */
class Fields {
  constructor() {
    const flow = system.grid.length === 3;
    this.flow = flow;
    [this.rows, this.columns] = flow ? [system.grid[1], system.grid[0]] : [system.grid[0], system.grid[1]];
    this.along = flow ? "columns" : "rows"; // the axis that the cut runs along
    this.at = { rows: Math.floor(this.rows.size / 2), columns: Math.floor(this.columns.size / 2) };
    this.moment = flow ? system.grid[2].size - 1 : 0;
    this.maps = el("div", { class: "maps" });
    const bars = el("div", { class: "bars" });
    byId("response").append(this.maps, bars);
    this.bars = [new ColourBar(bars), ...(system.models.length ? [new ColourBar(bars)] : [])];
    this.controls();
    this.line = new LineChart(byId("response"), { height: 210, title: "Cut" });
    this.parts = el("div", { class: "maps three" });
    byId("split").append(this.parts);
    this.sheets = new Map();
  }

  controls() {
    const choose = (along) => el("button", { type: "button", "aria-pressed": String(this.along === along), onclick: () => { this.along = along; this.place(); show(); } }, `along ${this[along].name}`);
    this.cutBox = el("span", { class: "segments" });
    this.fill = () => this.cutBox.replaceChildren(choose("rows"), choose("columns"));
    this.cutRange = el("input", { type: "range", "aria-label": "place of the cut", oninput: () => { this.at[this.across()] = this.cutRange.valueAsNumber; show(); } });
    this.cutWords = el("span", { class: "muted" });
    byId("response").append(el("div", { class: "cut" }, this.cutBox, this.cutRange, this.cutWords));
    if (!this.flow) return this.place();
    const t = system.grid[2];
    const words = el("span", { class: "muted small" });
    const range = el("input", { type: "range", min: 0, max: t.size - 1, value: this.moment, "aria-label": "moment that is shown", oninput: () => { this.moment = range.valueAsNumber; tell(); show(); } });
    const tell = () => (words.textContent = `t = ${number(t.origin + this.moment * t.step, 4)} s`);
    tell();
    byId("frame").replaceChildren(el("span", { class: "moment" }, words, range));
    this.place();
  }

  across() {
    return this.along === "rows" ? "columns" : "rows";
  }

  place() {
    this.fill();
    Object.assign(this.cutRange, { min: 0, max: this[this.across()].size - 1 });
    this.cutRange.value = this.at[this.across()];
  }

  /** What the maps show of an array: itself, or one moment of a flow with x to the right. */
  frame(array) {
    if (!this.flow) return array;
    const [wide, high, moments] = array.shape;
    const values = new Float32Array(wide * high);
    for (let x = 0; x < wide; x += 1) for (let y = 0; y < high; y += 1) values[y * wide + x] = array.values[(x * high + y) * moments + this.moment];
    return { shape: [high, wide], values };
  }

  cut(array) {
    const { shape: [high, wide], values } = this.frame(array);
    const at = this.at[this.across()];
    return this.along === "columns" ? values.slice(at * wide, (at + 1) * wide) : Float32Array.from({ length: high }, (_, r) => values[r * wide + at]);
  }

  show() {
    const models = names().filter(shown);
    const predictions = models.map((name) => this.frame(found.models[name].prediction));
    const truth = this.frame(found.truth);
    const range = colourRange([found.truth]);
    const errors = predictions.map((field) => ({ shape: field.shape, values: difference(field.values, truth.values) }));
    const worst = Math.max(1e-12, ...errors.map(({ values }) => Math.max(...values)));
    const input = this.frame(found.input);
    const tiles = [["truth", "truth", truth, range, "signed", outputLabel()]];
    models.forEach((name, k) => tiles.push([name, MODELS[name], predictions[k], range, "signed", percent(found.models[name].l2)]));
    tiles.push([`input ${system.input.at(-1)[0]}`, "input", input, colourRange([found.input, { values: found.input_range ?? [] }]), "signed", ""]);
    models.forEach((name, k) => tiles.push([`${name} error`, MODELS[name], errors[k], [0, worst], "magnitude", `≤ ${number(Math.max(...errors[k].values), 2)}`]));
    this.maps.className = `maps ${{ 0: "two", 2: "three", 4: "five" }[models.length] ?? ""}`;
    this.fillMaps(this.maps, tiles);
    this.bars[0].set(range, "signed", outputLabel());
    this.bars[1]?.set([0, worst], "magnitude", "|error|");
    this.cutLine();
    const split = found.models.LFNO;
    if (!split) return;
    splitWords(split);
    const parts = ["transient", "steady", "prediction"].map((key) => [key, this.frame(split[key])]);
    const common = colourRange(parts.map(([, field]) => field));
    this.fillMaps(this.parts, parts.map(([key, field]) => [key, key === "prediction" ? "lfno" : key, field, common, "signed", ""]));
  }

  cutLine() {
    const axis = this[this.along];
    const other = this[this.across()];
    const at = this.at[this.across()];
    this.cutWords.textContent = `at ${other.name} = ${number(other.origin + at * other.step, 4)} ${other.unit}`;
    this.line.set(points(axis), overlay((array) => this.cut(array)), { xLabel: axisLabel(axis.name, axis.unit), yLabel: outputLabel() });
  }

  fillMaps(parent, tiles) {
    const across = this.across();
    const cut = across === "columns" ? { column: this.at.columns } : { row: this.at.rows };
    const wanted = tiles.map(([label]) => label).join("|");
    if (parent.dataset.tiles !== wanted) {
      for (const sheet of this.sheets.get(parent) ?? []) sheet.remove();
      parent.replaceChildren();
      parent.dataset.tiles = wanted;
      const pick = (r, c) => {
        this.at = { rows: r, columns: c };
        this.place();
        show();
      };
      this.sheets.set(parent, tiles.map(([label, mark]) => {
        const figure = el("figure", { class: "map" }, el("figcaption", {}, el("span", { class: "swatch", mark }), label, el("b", {})));
        parent.append(figure);
        return new FieldMap(figure, pick, this.flow ? 1 : 0.82);
      }));
    }
    this.sheets.get(parent).forEach((sheet, k) => {
      const [label, , field, range, kind, words] = tiles[k];
      sheet.box.parentElement.querySelector("b").textContent = words;
      sheet.set(field, this.rows, this.columns, range, kind, cut, label);
    });
  }
}
