// The nonlinear frequency response: steady amplitudes of the equation (stepped sine, up and down) and of the models.

import { Chart } from "./chart.js";
import { mark } from "./state.js";
import { ask, axisLabel, complain, el, key, number, unpack } from "./tools.js";

const APART = 0.05; // relative difference of the two directions of the truth, above which there are two steady responses
const SHARES = [0.25, 1]; // amplitudes of the sweeps, divided by the amplitude of the input on the page

export class SweepPanel {
  constructor(box, page) {
    Object.assign(this, { box, page });
    box.hidden = page.system.grid.length > 1;
    if (box.hidden) return;
    this.words = el("p", { class: "muted small", "aria-live": "polite" });
    this.keys = el("span", { class: "chips" }); // the legend of the models with a curve
    this.go = el("button", { type: "button", class: "button small", onclick: () => this.run() }, "Sweep");
    box.append(el("header", {}, el("h2", {}, "Frequency response"), key("truth", "truth, up"), key("linear", "truth, down"), this.keys, el("span", { class: "grow" }), this.go), this.words);
    this.update();
  }

  update() {
    if (this.box.hidden || this.chart) return;
    const { unsettled } = this.page.system;
    this.go.disabled = Boolean(unsettled);
    this.words.textContent = unsettled ? `There is no steady response: ${unsettled}.` : "Steady amplitude of the response to a sine, over its frequency, for two amplitudes of the input. The sweep takes up to half a minute.";
  }

  async run() {
    const { system, query, models, hidden } = this.page;
    const amplitude = Math.max(0.05, Math.abs(query.input.amplitude));
    this.go.disabled = true;
    const series = [];
    const told = new Set();
    const drawn = new Map();
    let several = false; // whether the equation has more than one steady response at some frequency
    try {
      for (const share of SHARES) {
        const size = Number((share * amplitude).toPrecision(3));
        this.words.textContent = `sweeping with A = ${size}…`;
        const truth = await ask("sweep", { system: system.name, model: "truth", amplitude: size });
        const x = unpack(truth.frequency).values;
        const [up, down] = [unpack(truth.up).values, unpack(truth.down).values];
        several ||= up.some((value, n) => Math.abs(value - down[n]) > APART * Math.max(value, down[n]));
        series.push({ name: "linear", label: `truth, down, A = ${size}`, y: down, width: 5 }, { name: "truth", label: `truth, up, A = ${size}`, y: up, width: 2.2 });
        for (const { key: name, label } of models.filter((one) => !hidden.has(one.key))) {
          try {
            const found = await ask("sweep", { system: system.name, model: name, amplitude: size });
            drawn.set(name, key(mark(name), label));
            series.push({ name: mark(name), label: `${label}, A = ${size}`, y: unpack(found.amplitude).values, width: 1.5 });
          } catch (error) {
            told.add(`No curve of ${label}: ${error.message}.`);
          }
        }
        if (system !== this.page.system) return;
        this.chart ??= new Chart(this.box, { height: 230, title: "Steady amplitude", xLabel: "f [Hz]", yLabel: axisLabel(`amplitude of ${system.output[0][0]}`, system.output[0][1]) });
        this.chart.set(x, series);
        this.keys.replaceChildren(...drawn.values());
      }
      const sizes = SHARES.map((share) => number(share * amplitude)).join(" and ");
      const branches = several ? "Where the two directions of the truth differ, there are two steady responses. A model has only one value at each frequency, so a correct model can lie on either curve there." : "The two directions of the truth agree, so there is one steady response at each frequency.";
      this.words.replaceChildren(`Lower and upper curves: A = ${sizes}. ${branches}`, ...[...told].map((words) => el("span", { class: "block" }, words)));
      this.box.dataset.ready = "yes";
    } catch (error) {
      complain(error);
    } finally {
      this.go.disabled = false;
    }
  }
}
