// Predict the outputs for a new file with a fitted model.

import { Chart } from "./chart.js";
import { answer, ask, axisLabel, channel, complain, el, number, percent, picker, unpack } from "./tools.js";

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
    const absent = found.missing.length ? `has no ${found.missing.length > 1 ? "columns" : "column"} ${found.missing.map((name) => `“${name}”`).join(", ")}` : "has no output";
    const errors = found.errors ? `error ${percent(found.errors.nrmse)} of the standard deviation, fit ${number(found.errors.fit)} %` : `the file ${absent}, so the error is unknown`;
    const charts = el("div");
    const choose = async (sample) => this.draw(charts, found, await ask("predicted", { answer: found.id, sample }));
    this.body.dataset.subject = `${found.name} predicted by ${found.run}`;
    this.body.replaceChildren(el("p", {}, el("b", {}, found.name), ` by ${found.run}: ${errors}`), ...found.notes.map((note) => el("p", { class: "note small" }, note)),
      el("p", { class: "buttons" }, el("a", { class: "button small", href: `/api/save?answer=${found.id}`, download: "" }, "Save the prediction as CSV"), found.count > 1 ? picker("run", found.count, choose) : ""), charts);
    this.draw(charts, found, found.drawn);
  }

  /** Draw one run of a prediction. */
  draw(charts, found, drawn) {
    charts.replaceChildren();
    const x = unpack(drawn.t).values;
    const prediction = unpack(drawn.prediction);
    const truth = drawn.truth ? unpack(drawn.truth) : null;
    const group = [];
    found.output_channels.forEach(([name, unit], k) => {
      new Chart(charts, { height: 210, legend: true, title: `Prediction of ${name}`, yLabel: axisLabel(name, unit), xLabel: axisLabel("t", found.axis.unit), group }).set(x, [
        ...(truth ? [{ name: "measured", label: "measured", y: channel(truth, k).values, width: 2.6 }] : []), { name: "lfno", label: "predicted", y: channel(prediction, k).values, width: 1.5 }]);
    });
  }
}
