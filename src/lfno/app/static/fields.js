// The maps of a field (x, t), or of a flow (x, y, t) at one time, and a chart of the values along a line through all maps (a cut).

import { Chart } from "./chart.js";
import { chips } from "./curves.js";
import { ColourBar, colourRange, FieldMap, sharedView } from "./maps.js";
import { SplitWords } from "./splitwords.js";
import { mark } from "./state.js";
import { ask, axisLabel, byId, el, lowered, number, percent, points, unpack } from "./tools.js";

const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
const difference = (prediction, truth) => prediction.map((value, n) => Math.abs(value - truth[n]));

export class Fields {
  constructor(page) {
    this.page = page;
    const { grid, models } = page.system;
    this.flow = grid.length === 3;
    [this.rows, this.columns] = this.flow ? [grid[1], grid[0]] : [grid[0], grid[1]];
    this.along = this.flow ? "columns" : "rows"; // the horizontal axis of the chart of the cut
    this.at = { rows: Math.floor(this.rows.size / 2), columns: Math.floor(this.columns.size / 2) };
    this.moment = this.flow ? grid[2].size - 1 : 0;
    this.sheets = new Map();
    this.view = sharedView();
    this.output = axisLabel(...page.system.output[0]);
    this.unit = page.system.output[0][1];
    byId("response").append(el("header", {}, el("h2", {}, "Response"), el("div", { class: "chips", id: "chips" }), el("span", { class: "grow" }), el("span", { id: "frame" })));
    this.maps = el("div", { class: "maps" });
    const bars = el("div", { class: "bars" });
    byId("response").append(this.maps, bars);
    this.bars = [new ColourBar(bars), ...(models.length ? [new ColourBar(bars)] : [])];
    this.controls();
    this.line = new Chart(byId("response"), { height: 210, title: "Cut", yLabel: this.output });
    this.parts = el("div", { class: "maps two" });
    this.words = new SplitWords();
    const parted = models.some((one) => one.key.startsWith("LFNO"));
    byId("split").dataset.maps = !parted ? 0 : page.system.unsettled ? 2 : 4; // keep room for maps that have not arrived
    this.partBar = el("div", { class: "bars", hidden: true });
    byId("split").append(el("header", {}, this.words.title), this.words.node, this.parts, this.partBar);
    this.partScale = new ColourBar(this.partBar);
  }

  controls() {
    const choose = (along) => el("button", { type: "button", "aria-pressed": String(this.along === along), onclick: () => { this.along = along; this.place(); this.show(); } }, `along ${this[along].name}`);
    this.cutBox = el("span", { class: "segments" });
    this.fill = () => this.cutBox.replaceChildren(choose("rows"), choose("columns"));
    this.cutRange = el("input", { type: "range", "aria-label": "place of the cut", oninput: () => { this.at[this.across()] = this.cutRange.valueAsNumber; this.show(); } });
    this.cutWords = el("span", { class: "muted" });
    byId("response").append(el("div", { class: "cut" }, this.cutBox, this.cutRange, this.cutWords));
    this.place();
    if (!this.flow) return;
    const t = this.page.system.grid[2];
    const words = el("span", { class: "muted small" });
    const range = el("input", { type: "range", min: 0, max: t.size - 1, value: this.moment, "aria-label": "time of the maps", oninput: () => { this.moment = range.valueAsNumber; tell(); this.show(); } });
    const tell = () => (words.textContent = `t = ${number(t.origin + this.moment * t.step, 4)} ${t.unit}`);
    tell();
    byId("frame").replaceChildren(el("span", { class: "moment" }, words, range));
  }

  across() {
    return this.along === "rows" ? "columns" : "rows";
  }

  place() {
    this.fill();
    Object.assign(this.cutRange, { min: 0, max: this[this.across()].size - 1 });
    this.cutRange.value = this.at[this.across()];
  }

  /** The values that a map shows: the whole field, or one time of a flow with x to the right. */
  frame(packed) {
    const array = packed.values ? packed : unpack(packed);
    if (!this.flow) return array;
    const [wide, high, moments] = array.shape;
    const values = new Float32Array(wide * high);
    for (let x = 0; x < wide; x += 1) for (let y = 0; y < high; y += 1) values[y * wide + x] = array.values[(x * high + y) * moments + this.moment];
    return { shape: [high, wide], values };
  }

  cut({ shape: [high, wide], values }) {
    const at = this.at[this.across()];
    return this.along === "columns" ? values.slice(at * wide, (at + 1) * wide) : Float32Array.from({ length: high }, (_, r) => values[r * wide + at]);
  }

  show(old = null) {
    const { truth: told, hidden, system } = this.page;
    if (!told) return;
    // keep the maps of the old predictions until the new ones arrive, so that the layout does not change
    if (old?.size) return;
    const shown = this.page.models.filter((one) => !hidden.has(one.key));
    const models = shown.map((one) => this.page.answers.get(one.key) ?? { ...one, waiting: true }); // keep a place for the maps
    const whole = unpack(told.truth);
    const truth = this.frame(whole);
    const fields = models.map((one) => (one.waiting ? null : this.frame(one.prediction)));
    const range = colourRange([whole]);
    const errors = fields.map((field) => field && { shape: field.shape, values: difference(field.values, truth.values) });
    const worst = Math.max(1e-12, ...errors.map((error) => (error ? largest(error.values) : 0)));
    const input = unpack(told.input);
    const inputs = colourRange([input, { values: told.input_range ?? [] }]); // the colour scale of the input, which its caption shows
    const [driven, drivenUnit] = system.input.at(-1);
    const within = (value, unit) => `${number(value, 2)} ${unit}`.trim();
    const tiles = [["truth", "truth", truth, range, "signed", "", this.output]];
    models.forEach((one, k) => tiles.push([one.label, mark(one.key), fields[k], range, "signed", one.waiting ? "" : `error ${percent(one.l2)}`, this.output]));
    tiles.push([`input ${lowered(driven)}`, "input", this.frame(input), inputs, "signed", `${number(inputs[0], 2)} … ${within(inputs[1], drivenUnit)}`, axisLabel(lowered(driven), drivenUnit)]);
    models.forEach((one, k) => tiles.push([`${one.label}: error`, mark(one.key), errors[k], [0, worst], "magnitude", errors[k] ? `≤ ${within(largest(errors[k].values), this.unit)}` : "", axisLabel("|error|", this.unit)]));
    byId("view-systems").classList.toggle("many", models.length > 2);
    this.maps.className = `maps ${{ 0: "two", 1: "two", 2: "three", 4: "five" }[models.length] ?? ""}`;
    this.fillMaps(this.maps, tiles);
    this.bars[0].set(range, "signed", this.output);
    this.bars[1]?.set([0, worst], "magnitude", axisLabel("|error|", this.unit));
    const axis = this[this.along];
    const other = this[this.across()];
    this.cutWords.textContent = `at ${other.name} = ${number(other.origin + this.at[this.across()] * other.step, 4)} ${other.unit}`;
    const lines = models.flatMap((one, k) => (fields[k] ? [{ name: mark(one.key), label: one.label, y: this.cut(fields[k]), width: 1.5 }] : [])).reverse();
    this.line.set(points(axis), [{ name: "truth", label: "truth", y: this.cut(truth), width: 3.2 }, ...lines], { xLabel: axisLabel(axis.name, axis.unit) });
    chips(this.page);
    if (this.found) this.drawSplit();
  }

  async split(query) {
    const key = this.page.models.find((one) => /^(equation|LFNO|marching)/.test(one.key))?.key;
    byId("split").hidden = !key;
    if (!key) return;
    const name = this.page.system.name;
    const found = await ask("split", { system: name, ...query, model: key });
    if (name !== this.page.system.name || query !== this.page.query) return;
    this.found = [];
    for (const [source, who] of [["", found.label], ["true_", "truth"]]) {
      for (const part of ["transient", "steady"]) if (found.steady && found[source + part]) this.found.push([`${who}, ${part}`, part, unpack(found[source + part])]);
    }
    this.words.tell(found);
    byId("split").classList.remove("stale");
    this.drawSplit();
    document.body.dataset.split = name;
  }

  drawSplit() {
    const fields = this.found.map(([label, part, array]) => [label, part, this.frame(array)]);
    const common = colourRange(fields.map(([, , field]) => field));
    this.fillMaps(this.parts, fields.map(([label, part, field]) => [label, part, field, common, "signed", `≤ ${number(largest(field.values), 2)} ${this.unit}`.trim(), this.output]));
    this.partBar.hidden = !fields.length;
    if (fields.length) this.partScale.set(common, "signed", this.output);
  }

  fillMaps(parent, tiles) {
    const cut = this.across() === "columns" ? { column: this.at.columns } : { row: this.at.rows };
    const wanted = tiles.map(([label, , field]) => `${label} ${field !== null}`).join("|");
    if (parent.dataset.tiles !== wanted) {
      parent.replaceChildren();
      parent.dataset.tiles = wanted;
      const pick = (r, c) => {
        this.at = { rows: r, columns: c };
        this.place();
        this.show();
      };
      this.sheets.set(parent, tiles.map(([label, colour, field]) => {
        const figure = el("figure", { class: "map" }, el("figcaption", {}, el("span", {}, el("span", { class: "swatch", mark: colour }), label), el("b", {})));
        parent.append(figure);
        if (field === null) return figure.append(el("div", { class: `empty ${this.flow ? "square" : ""}` }, "loading…"));
        return new FieldMap(figure, pick, this.flow ? 1 : 0.82, this.view);
      }));
    }
    this.sheets.get(parent).forEach((sheet, k) => {
      const [label, , field, range, kind, words, quantity] = tiles[k];
      if (!sheet) return;
      sheet.box.parentElement.querySelector("b").textContent = words;
      sheet.set(field, this.rows, this.columns, range, kind, cut, label, quantity);
    });
  }
}
