// The controls for the input of a system: kind, amplitude and frequency of a signal, a drawing, or the parameter of a field.

import { Sketch } from "./sketch.js";
import { el, number, took } from "./tools.js";

const LOWEST = 0.02; // Hz; lowest frequency of the slider

/** A number with a slider and a box. A text that is not a number is replaced by the last value. */
class Dial {
  constructor(label, { low, high, step, unit, value, change }) {
    Object.assign(this, { low, high, value });
    this.slider = el("input", { type: "range", min: low, max: high, step, "aria-label": label });
    this.box = el("input", { type: "number", step: "any", "aria-label": `${label} as a number` });
    this.node = el("div", { class: "dial" }, el("span", { class: "dial-name" }, label), this.slider, this.box, el("span", { class: "muted" }, unit));
    this.slider.addEventListener("input", () => this.take(this.slider.valueAsNumber, change));
    this.slider.addEventListener("keydown", (event) => {
      const many = { PageUp: 10, PageDown: -10 }[event.key];
      if (!many) return;
      event.preventDefault();
      this.take(Math.min(high, Math.max(low, this.value + many * step)), change);
    });
    this.box.addEventListener("change", () => this.take(this.box.valueAsNumber, change));
    this.set(value);
  }

  take(value, change) {
    if (!Number.isFinite(value)) return this.set(this.value);
    this.set(Number(value.toFixed(6)));
    return change();
  }

  set(value) {
    this.value = value;
    this.slider.value = value;
    this.box.value = Number(value.toPrecision(4));
    this.slider.setAttribute("aria-valuetext", number(value, 4));
  }
}

export class Playground {
  constructor(parent, system, catalogue, query, change) {
    this.kinds = catalogue.kinds;
    const start = { ...system.start, ...this.given(query) };
    Object.assign(this, { kind: start.kind, seed: start.seed, paper: system.paper, change });
    const moved = () => change(this.query());
    this.amplitude = new Dial("amplitude A", { low: 0.05, high: 12, step: 0.05, unit: system.input.at(-1)[1], value: start.amplitude, change: moved });
    this.frequency = new Dial("frequency f", { low: LOWEST, high: 1.5, step: 0.005, unit: "Hz", value: start.frequency, change: moved });
    this.sketch = new Sketch(catalogue.limits, moved);
    this.again = el("button", { type: "button", class: "button small", onclick: () => { this.seed += 1; moved(); } }, "new random input");
    this.choices = el("div", { class: "segments wrap", role: "group", "aria-label": "kind of input" },
      ...Object.keys(this.kinds).map((kind) => el("button", { type: "button", "data-kind": kind, onclick: () => { this.kind = kind; this.fill(); moved(); } }, kind)));
    this.formula = el("p", { class: "formula" });
    this.status = el("p", { class: "muted status", "aria-live": "polite" });
    parent.append(el("div", { class: "playground" }, this.choices, this.amplitude.node, this.frequency.node, this.sketch.node, el("div", { class: "formula-line" }, this.formula, this.again), this.status));
    this.fill();
  }

  /** The input that the address of the page describes. */
  given(query) {
    const found = {};
    if (query.kind in this.kinds) found.kind = query.kind;
    for (const name of ["amplitude", "frequency", "seed"]) {
      const value = Number.parseFloat(query[name]);
      if (Number.isFinite(value)) found[name] = name === "seed" ? Math.max(0, Math.round(value)) : value;
    }
    return found;
  }

  fill() {
    const { frequency, seed, formula } = this.kinds[this.kind];
    for (const button of this.choices.children) button.setAttribute("aria-pressed", String(button.dataset.kind === this.kind));
    const drawn = this.kind === "drawn by hand";
    this.amplitude.node.hidden = drawn;
    this.frequency.node.hidden = drawn || !frequency;
    this.sketch.node.hidden = !drawn;
    if (drawn) this.sketch.draw();
    this.again.hidden = !seed;
    this.formula.textContent = `f(t) = ${formula}`;
  }

  query() {
    const input = { kind: this.kind, amplitude: this.amplitude.value, frequency: this.frequency.value, seed: this.seed };
    if (this.kind === "drawn by hand") input.points = this.sketch.points;
    return { input };
  }

  address() {
    return { kind: this.kind, amplitude: this.amplitude.value, frequency: Number(this.frequency.value.toFixed(6)), seed: this.seed };
  }

  tell(truth) {
    this.formula.textContent = truth.formula;
    this.status.textContent = `solved in ${took(truth.ms)}`;
  }

  /** Show the values of an earlier input again. */
  reset(query) {
    if (query?.input) this.put(query.input);
  }

  put({ kind, seed, amplitude, frequency }) {
    Object.assign(this, { kind, seed });
    this.amplitude.set(amplitude);
    this.frequency.set(frequency);
    this.fill();
  }

  toPaper() {
    this.put(this.paper);
    this.change(this.query());
  }
}

/** The controls for the input of a field: the parameter of the paper's inputs, or the number of a random input. */
export class Slider {
  constructor(parent, system, catalogue, query, change) {
    Object.assign(this, { system, change, family: system.start.family });
    if (query.family === "paper" || (query.family === "random" && system.draws)) this.family = query.family;
    this.choices = el("div", { class: "segments", role: "group", "aria-label": "kind of input", hidden: !system.draws },
      ...[["random", "random input"], ["paper", "input of the paper"]].map(([family, words]) => el("button", { type: "button", "data-family": family, onclick: () => this.choose(family) }, words)));
    this.box = el("div");
    this.formula = el("p", { class: "formula" });
    this.status = el("p", { class: "muted status", "aria-live": "polite" });
    parent.append(el("div", { class: "playground" }, this.choices, this.box, this.formula, this.status));
    const given = Number.parseFloat(query.value);
    this.fill(Number.isFinite(given) ? given : system.start.value);
  }

  fill(value) {
    const { name, low, high, step, unit } = this.family === "random" ? { name: "sample", low: 0, high: this.system.draws - 1, step: 1, unit: "" } : this.system.slider;
    this.dial = new Dial(name, { low, high, step, unit, value, change: () => this.change(this.query()) });
    this.box.replaceChildren(this.dial.node);
    for (const button of this.choices.children) button.setAttribute("aria-pressed", String(button.dataset.family === this.family));
  }

  choose(family) {
    this.family = family;
    this.fill(family === "random" ? 0 : this.system.slider.value);
    this.change(this.query());
  }

  query() {
    return { family: this.family, value: this.dial.value };
  }

  address() {
    return this.query();
  }

  toPaper() {
    this.choose("paper");
  }

  tell(truth) {
    this.formula.textContent = truth.formula;
    this.status.textContent = `solved in ${took(truth.ms)}`;
  }

  reset(query) {
    if (!query) return;
    this.family = query.family;
    this.fill(query.value);
  }
}
