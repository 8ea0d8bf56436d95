// The charts of an oscillator: input, response, error, transient part and steady part.

import { Chart } from "./chart.js";
import { SplitWords } from "./splitwords.js";
import { isPaper, mark } from "./state.js";
import { ask, axisLabel, byId, el, key, percent, points, trying, unpack } from "./tools.js";

/** The largest value near each value. The error passes through zero often; its envelope is easier to read. */
function envelope(values) {
  const reach = Math.ceil(values.length / 120);
  return values.map((_, n) => Math.max(...values.subarray(Math.max(0, n - reach), n + reach + 1)));
}

/** The limits [low, high] of a chart. A model with a very large error must not make the truth look like a straight line. */
function around(truth) {
  const [low, high] = truth.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [0, 0]);
  const room = 1.5 * (high - low || 1);
  return [low - room, high + room];
}

/** Make the buttons that hide and show the models. Models that were trained on the paper's inputs stand in a second line, if another
 *  model was trained on random inputs. The paper's inputs have one shape only, so these models are of no use for other inputs. */
export function chips(page) {
  const before = document.activeElement?.dataset?.curve;
  const chip = ({ key: name, label }) => {
    const error = page.hidden.has(name) ? "" : el("span", { class: "muted chip-error" }, percent(page.answers.get(name)?.l2));
    return el("button", { type: "button", class: "chip", "data-curve": name, "aria-pressed": String(!page.hidden.has(name)), title: page.hidden.has(name) ? "show this model" : "hide this model", onclick: () => page.toggle(name) }, el("i", { mark: mark(name) }), label, error);
  };
  const narrow = page.models.filter(isPaper);
  const there = el("button", { type: "button", class: "link", "data-do": "paper", onclick: () => page.toPaper() }, "show them with that input");
  const line = narrow.length ? [el("span", { class: "off-note" }, el("span", { class: "muted small" }, "Grey: networks that were trained on one shape of input only, as in the paper (", there, "):"), ...narrow.map(chip))] : [];
  byId("chips").replaceChildren(key("truth", "truth"), ...page.models.filter((one) => !isPaper(one)).map(chip), ...line);
  if (before) byId("chips").querySelector(`[data-curve="${CSS.escape(before)}"]`)?.focus();
}

export class Curves {
  constructor(page) {
    this.page = page;
    const time = axisLabel(page.system.grid[0].name, page.system.grid[0].unit);
    const group = [];
    byId("response").append(el("header", {}, el("h2", {}, "Response"), el("div", { class: "chips", id: "chips" })));
    this.input = new Chart(byId("response"), { height: 110, title: "Input", yLabel: axisLabel(...page.system.input.at(-1)), group });
    this.response = new Chart(byId("response"), { height: 240, title: "Response", yLabel: axisLabel(...page.system.output[0]), group });
    this.error = new Chart(byId("response"), { height: 150, title: "Error", yLabel: axisLabel("max |error|", page.system.output[0][1]), xLabel: time, log: true, group });
    this.chosen = null;
    this.pick = el("span", { class: "segments", id: "split-of" });
    this.words = new SplitWords();
    byId("split").classList.add("empty"); // until the first parts arrive
    byId("split").append(el("header", {}, this.words.title, key("steady", "steady"), key("transient", "transient"), this.words.key, el("span", { class: "grow" }), this.pick), this.words.node);
    const parts = [];
    const output = axisLabel(...page.system.output[0]);
    this.steady = new Chart(byId("split"), { height: 200, title: "Steady part", yLabel: output, group: parts });
    this.transient = new Chart(byId("split"), { height: 216, title: "Transient part", yLabel: output, xLabel: time, group: parts });
    chips(page);
    this.choices();
  }

  /** Draw the truth and the predictions that have arrived. */
  show() {
    const { truth, answers, hidden, system, models } = this.page;
    if (!truth) return;
    const x = points(truth.axes[0]);
    const solution = unpack(truth.truth).values;
    this.input.set(x, [{ name: "input", label: system.input.at(-1)[0], y: unpack(truth.input).values, width: 1.4 }]);
    const shown = models.map((one) => answers.get(one.key)).filter((one) => one && !hidden.has(one.key)).reverse();
    const predictions = shown.map((one) => ({ name: mark(one.key), label: one.label, y: unpack(one.prediction).values, width: 1.5 }));
    this.response.set(x, [{ name: "truth", label: "truth", y: solution, width: 3.2 }, ...predictions], { most: around(solution) });
    this.error.set(x, predictions.map((one) => ({ ...one, y: envelope(one.y.map((value, n) => Math.abs(value - solution[n]))) })));
    chips(this.page);
    this.choices();
  }

  choices() {
    const models = this.page.models.filter((one) => !one.key.startsWith("FNO"));
    if (!models.some((one) => one.key === this.chosen)) this.chosen = models[0]?.key ?? null;
    this.pick.replaceChildren(...models.map((one) => el("button", { type: "button", "aria-pressed": String(one.key === this.chosen), onclick: () => { this.chosen = one.key; this.choices(); trying(() => this.split(this.page.query)); } }, one.label)));
  }

  async split(query) {
    if (!this.chosen) return;
    const name = this.page.system.name;
    const found = await ask("split", { system: name, ...query, model: this.chosen });
    if (name !== this.page.system.name || query !== this.page.query) return;
    const x = points(this.page.truth.axes[0]);
    const curves = (part) => [
      ...(found[`true_${part}`] ? [{ name: "truth", label: "truth", y: unpack(found[`true_${part}`]).values, width: 2.4, dash: [7, 5] }] : []),
      ...(found[part] ? [{ name: part, label: `${found.label}, ${part}`, y: unpack(found[part]).values, width: 1.7 }] : []),
    ];
    const most = around(unpack(this.page.truth.truth).values);
    this.steady.set(x, curves("steady"), { most });
    this.transient.set(x, curves("transient"), { most });
    this.words.tell(found);
    byId("split").classList.remove("stale", "empty");
    document.body.dataset.split = name;
  }
}
