// Predict the outputs for a new file with a fitted model.

import { Chart } from "./chart.js";
import { answer, axisLabel, channel, complain, el, number, percent, unpack } from "./tools.js";

export class PredictPanel {
  constructor(parent, runs) {
    this.model = el("select", { "aria-label": "model" }, ...runs.map((run) => el("option", { value: run.id }, run.name)));
    this.input = el("input", { type: "file", id: "new-file", class: "hidden-input" });
    this.words = el("span", { class: "muted", "aria-live": "polite" });
    this.body = el("div", { id: "predicted" });
    this.input.addEventListener("change", () => this.input.files.length && this.predict(this.input.files[0]));
    parent.append(el("div", { class: "exports" }, el("b", {}, "Predict a new file"), this.model, el("label", { class: "button small", for: "new-file" }, "Choose a file with the inputs"), this.input, this.words), this.body);
  }

  async predict(file) {
    this.words.textContent = `predicting ${file.name}…`;
    try {
      complain(null);
      const headers = { "X-File-Name": encodeURIComponent(file.name), "X-Run": this.model.value };
      this.show(await answer(() => fetch("/api/predict", { method: "POST", body: file, headers })));
    } catch (error) {
      complain(error);
    } finally {
      this.words.textContent = "";
      this.input.value = "";
    }
  }

  show(found) {
    const errors = found.errors ? `error ${percent(found.errors.nrmse)} of the standard deviation, fit ${number(found.errors.fit)} %` : "the file has no output, so the error is unknown";
    this.body.replaceChildren(el("p", {}, el("b", {}, found.name), ` by ${found.run}: ${errors}`), ...found.notes.map((note) => el("p", { class: "note small" }, note)),
      el("p", {}, el("a", { class: "button small", href: `/api/save?answer=${found.id}`, download: "" }, "Save the prediction as CSV")));
    const x = unpack(found.drawn.t).values;
    const prediction = unpack(found.drawn.prediction);
    const truth = found.drawn.truth ? unpack(found.drawn.truth) : null;
    const group = [];
    found.output_channels.forEach(([name, unit], k) => {
      new Chart(this.body, { height: 210, title: `Prediction of ${name}`, yLabel: axisLabel(name, unit), xLabel: axisLabel("t", found.axis.unit), group }).set(x, [
        ...(truth ? [{ name: "measured", label: "measured", y: channel(truth, k).values, width: 2.6 }] : []), { name: "lfno", label: "predicted", y: channel(prediction, k).values, width: 1.5 }]);
    });
  }
}
