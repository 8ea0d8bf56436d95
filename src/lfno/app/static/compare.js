// Compare the finished runs of one file: errors, predictions, residuals, frequency responses and modes. Save models, and predict.

import { Chart } from "./chart.js";
import { drawFields } from "./fieldplot.js";
import { PredictPanel } from "./predict.js";
import { store } from "./store.js";
import { ask, axisLabel, channel, compact, complain, el, frequencyUnit, key, notes, number, percent, picker, ratioUnit, unpack } from "./tools.js";

const MARKS = { linear: "linear", feedback: "feedback", lfno: "lfno", fno: "fno", lno: "lno" };
const SPARE = ["yours", "transient", "steady", "lno", "fno", "feedback"];

export class Comparison {
  /** file(): the identity of the open file. */
  constructor(box, file) {
    Object.assign(this, { box, file, outcomes: new Map(), hidden: new Set(), shown: "" });
  }

  /** Forget the runs of the previous file. */
  reset() {
    this.shown = "";
    this.hidden.clear();
    this.update();
  }

  async update() {
    const runs = store.runs.filter((run) => run.file === this.file() && run.ready);
    const now = JSON.stringify([this.file(), runs.map((run) => [run.id, run.name])]);
    if (now === this.shown) return;
    this.shown = now;
    if (!runs.length) return this.box.replaceChildren();
    try {
      for (const run of runs) if (!this.outcomes.has(run.id)) this.outcomes.set(run.id, (await ask("outcome", { run: run.id })).outcome);
      if (now === this.shown) this.build(runs);
    } catch (error) {
      complain(error);
    }
  }

  build(runs) {
    const taken = new Set();
    const error = (run) => this.outcomes.get(run.id).test[this.outcomes.get(run.id).label].nrmse ?? Infinity;
    this.runs = runs.slice().reverse().sort((one, other) => error(one) - error(other)).map((run) => { // the best comes first
      let mark = MARKS[run.model] ?? "yours";
      if (taken.has(mark)) mark = SPARE.find((one) => !taken.has(one)) ?? "yours";
      taken.add(mark);
      return { ...run, mark, told: this.outcomes.get(run.id) };
    });
    const first = this.runs[0].told;
    this.field = first.grid.axes.length > 1;
    const panel = (title, ...more) => el("section", { class: "panel" }, el("header", {}, el("h2", {}, title), ...more));
    const errors = panel("Errors on the test data");
    errors.append(this.errorTable());
    this.curves = panel("Predicted and measured", key("measured", "measured"), ...this.chips(), el("span", { class: "grow" }), first.places > 1 ? picker(first.record ? "piece of the test data" : "test sample", first.places, (place) => this.sample(place)) : "");
    this.curveBody = el("div");
    this.curves.append(first.times ? el("p", { class: "muted small times" }, first.times) : "", this.curveBody);
    this.box.replaceChildren(errors, this.curves, ...(this.field ? [] : [this.bode(), this.modes()]), this.save());
    this.box.dataset.runs = String(this.runs.length);
    this.sample(0).catch(complain);
  }

  chips() {
    return this.runs.map((run) => el("button", { type: "button", class: "chip", "data-curve": run.id, "aria-pressed": String(!this.hidden.has(run.id)), onclick: () => {
      if (!this.hidden.delete(run.id)) this.hidden.add(run.id);
      this.build(this.runs.slice().reverse());
    } }, el("i", { mark: run.mark }), run.name));
  }

  visible() {
    return this.runs.filter((run) => !this.hidden.has(run.id));
  }

  errorTable() {
    const rows = [];
    const seen = new Set();
    for (const run of this.runs) rows.push([run.name, run.mark, run.told.test[run.told.label], run.told]);
    for (const run of this.runs) {
      for (const [name, row] of Object.entries(run.told.test)) {
        if (name === run.told.label || seen.has(name)) continue;
        seen.add(name);
        rows.push([name, null, row, null]);
      }
    }
    const best = Math.min(...rows.map(([, , row]) => row.nrmse ?? Infinity));
    const heads = ["", "RMSE / std", "fit", "parameters", "time to fit"].map((text) => el("th", { scope: "col" }, text));
    const body = rows.map(([name, mark, row, told]) => el("tr", { class: row.nrmse === best ? "best" : null }, el("td", { class: "wrap" }, mark ? el("span", { class: "swatch", mark }) : "", name), el("td", {}, percent(row.nrmse)), el("td", {}, `${number(row.fit)} %`),
      el("td", { class: "muted" }, told?.parameters ? compact(told.parameters) : ""), el("td", { class: "muted" }, told ? `${number(told.seconds, 2)} s` : "")));
    const first = this.runs[0];
    const headline = el("p", { class: "headline" }, el("b", {}, `Lowest error: ${first.name}, ${percent(first.told.test[first.told.label].nrmse)}`), " of the standard deviation of the output.");
    return el("div", {}, this.runs.length > 1 ? headline : "", ...this.runs.map((run) => el("p", { class: "verdict" }, el("b", {}, `${run.name}: `), run.told.verdict)),
      el("div", { class: "scroll" }, el("table", { id: "error-rows" }, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...body))));
  }

  async sample(place) {
    const runs = this.visible().filter((run) => place < run.told.places);
    const found = await Promise.all(runs.map((run) => ask("sample", { run: run.id, place })));
    this.curveBody.replaceChildren();
    if (!found.length) return;
    if (this.field) {
      drawFields(this.curveBody, found[0].axes, [["measured", found[0].truth], ...runs.map((run, k) => [run.name, found[k].prediction]), ["input", found[0].input]]);
      return;
    }
    const x = unpack(found[0].t).values;
    const group = [];
    const names = runs[0].told.output_channels;
    const unit = runs[0].told.grid.axes.at(-1).unit;
    const truth = unpack(found[0].truth);
    const arrays = found.map((one) => Object.fromEntries(["prediction", "transient", "steady"].filter((name) => one[name]).map((name) => [name, unpack(one[name])])));
    names.forEach(([name, own], k) => {
      const measured = channel(truth, k).values;
      const label = axisLabel(name, own);
      const predictions = runs.map((run, n) => ({ name: run.mark, label: run.name, y: channel(arrays[n].prediction, k).values, width: 1.5 }));
      new Chart(this.curveBody, { height: 230, title: `Predicted and measured ${name}`, yLabel: label, group }).set(x, [{ name: "measured", label: "measured", y: measured, width: 2.8 }, ...predictions]);
      new Chart(this.curveBody, { height: 130, title: `Residuals of ${name}`, yLabel: `residual ${own ? `[${own}]` : ""}`, xLabel: axisLabel("t", unit), group }).set(x, predictions.map((one) => ({ ...one, y: one.y.map((value, n) => value - measured[n]), width: 1.1 })));
    });
    const parts = runs.map((run, n) => [run, arrays[n]]).filter(([run, one]) => one.steady && !run.told.caveat.includes("calls its whole answer"));
    if (!parts.length) return;
    const missing = runs.filter((run) => run.told.no_split).map((run) => [run.name, run.told.no_split]);
    this.curveBody.append(el("h3", {}, "Transient and steady part"),
      el("div", { class: "chips small parts-key" }, ...parts.map(([run]) => key(run.mark, run.name)), el("span", { class: "muted" }, "solid: steady; dashed: transient")),
      ...notes(missing.map(([who, why]) => [who, `no split: ${why}`]), ""), ...notes(parts.map(([run]) => [run.name, run.told.caveat]), ""));
    names.forEach(([name, own], k) => {
      new Chart(this.curveBody, { height: 170, title: `Parts of ${name}`, yLabel: axisLabel(name, own), xLabel: axisLabel("t", unit), group }).set(x, parts.flatMap(([run, one]) => [
        { name: run.mark, label: `${run.name}, steady`, y: channel(one.steady, k).values, width: 1.5 }, { name: run.mark, label: `${run.name}, transient`, y: channel(one.transient, k).values, width: 1.2, dash: [5, 4] }]));
    });
  }

  /** The panel with magnitude and phase for one pair of output and input, and the coherence of the measurement. */
  bode() {
    const runs = this.visible().filter((run) => run.told.bode);
    const panel = el("section", { class: "panel", id: "bode" }, el("header", {}, el("h2", {}, "Frequency response on the test data"), key("measured", "measured"), ...runs.map((run) => key(run.mark, run.name))));
    if (!runs.length) {
      panel.append(el("p", { class: "muted small" }, "There is no frequency response: the test data are too short or have too many missing values, or the inputs excite too few frequencies."));
      return panel;
    }
    const { told } = runs[0];
    const pairs = told.output_channels.flatMap(([output, unit], o) => told.input_channels.map(([input, own], i) => [o, i, `${output} / ${input}`, ratioUnit(unit, own)]));
    const body = el("div");
    const choose = el("select", { "aria-label": "output and input", onchange: () => draw(pairs[choose.selectedIndex]) }, ...pairs.map(([, , label]) => el("option", {}, label)));
    panel.firstElementChild.append(el("span", { class: "grow" }), pairs.length > 1 ? choose : "");
    panel.append(body);
    const draw = ([o, i, label, unit]) => {
      body.replaceChildren();
      const x = unpack(told.bode.frequency).values;
      const few = x.length < 40; // draw a point for each frequency if there are few
      const pick = (polar, name) => channel(channel(unpack(polar[name]), o), i).values;
      const both = (name) => [{ name: "measured", label: "measured", y: pick(told.bode.measured, name), width: 2.6, points: few }, ...runs.map((run) => ({ name: run.mark, label: run.name, y: pick(run.told.bode.model, name), width: 1.5, points: few }))];
      const group = [];
      new Chart(body, { height: 190, title: `Magnitude ${label}`, yLabel: axisLabel("|H|", unit), log: true, logX: true, group }).set(x, both("magnitude"));
      new Chart(body, { height: 150, title: `Phase ${label}`, yLabel: "phase [°]", logX: true, group }).set(x, both("phase"));
      new Chart(body, { height: 110, title: `Coherence ${label}`, yLabel: "coherence", xLabel: axisLabel("f", frequencyUnit(told.grid.axes.at(-1).unit)), logX: true, group }).set(x, [{ name: "measured", label: "coherence", y: channel(unpack(told.bode.coherence), o).values, width: 1.4 }], { least: [0, 1] });
    };
    draw(pairs[0]);
    return panel;
  }

  modes() {
    const between = (interval) => (interval && interval[0] !== null ? el("span", { class: "muted small block" }, `${number(interval[0], 4)} – ${number(interval[1], 4)}`) : "");
    const rows = this.visible().flatMap((run) => {
      const name = el("td", { class: "wrap" }, el("span", { class: "swatch", mark: run.mark }), run.name);
      if (!run.told.modes.length) return [el("tr", {}, name, el("td", { colspan: 3, class: "muted wrap" }, run.told.no_modes || "none found"))];
      return run.told.modes.map((mode, k) => el("tr", {}, k ? el("td", {}) : name, el("td", {}, number(mode.frequency, 4), between(mode.frequency_interval)),
        el("td", {}, percent(mode.damping_ratio), between(mode.damping_interval?.map((value) => value && 100 * value))), el("td", {}, number(mode.time_constant))));
    });
    const unit = this.runs[0].told.grid.axes.at(-1).unit;
    const heads = ["", axisLabel("frequency", frequencyUnit(unit)), "damping ratio [%]", axisLabel("τ", unit)].map((text) => el("th", { scope: "col" }, text));
    return el("section", { class: "panel" }, el("header", {}, el("h2", {}, "Modes for small inputs")), el("p", { class: "muted small" }, "Below each value: its 95 % interval."), el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows))));
  }

  /** The panel with buttons that save each model, and with the prediction for a new file. */
  save() {
    const links = this.runs.map((run) => el("div", { class: "exports" }, el("b", {}, run.name), ...store.forms.map(({ form, label }) => el("button", { type: "button", class: "button small", "data-form": form, onclick: () => saveAs(run, form) }, label))));
    const hints = store.forms.filter(({ hint }) => hint).map(({ hint }) => el("p", { class: "muted small" }, hint));
    const panel = el("section", { class: "panel", id: "save" }, el("header", {}, el("h2", {}, "Save and use")), ...links, ...hints);
    new PredictPanel(panel, this.runs);
    return panel;
  }
}

/** Save the model of a run in one of the forms, or show the error message of the server. */
async function saveAs(run, form) {
  try {
    complain(null);
    const response = await fetch(`/api/save?${new URLSearchParams({ run: run.id, form })}`);
    if (response.headers.get("Content-Type") === "application/json") throw new Error((await response.json()).error);
    const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition"))[1];
    const link = el("a", { href: URL.createObjectURL(await response.blob()), download: name });
    document.body.append(link);
    link.click();
    link.remove();
  } catch (error) {
    complain(error);
  }
}
