// A training run: started, watched, stopped.

import { LineChart } from "./plot.js";
import { ask, complain, el, key, number } from "./tools.js";

const STAGES = {
  preparing: "preparing the data…", pilot: "a short pilot chooses how free the steady weights may be…", training: "training",
  judging: "comparing with the baselines…", done: "finished", stopped: "stopped; the best weights so far are kept", failed: "failed",
};

export class TrainingPanel {
  /** source() names what to train on; finished(progress) is called once a run has left a model. */
  constructor(box, { title, words, source, finished, epochs }) {
    Object.assign(this, { source, finished, losses: [], watching: false });
    this.model = el("select", {}, ...["lfno", "fno", "lno"].map((name) => el("option", { value: name }, name.toUpperCase())));
    this.epochs = el("input", { type: "number", min: 1, max: 5000, step: 1, value: epochs, placeholder: "auto" });
    this.go = el("button", { type: "button", class: "primary", "data-do": "start", onclick: () => this.start() }, "Start training");
    this.halt = el("button", { type: "button", class: "button", disabled: true, onclick: () => this.stop() }, "Stop");
    this.save = el("a", { class: "button", href: "/api/model", download: true, hidden: true }, "Save the model");
    this.words = el("p", { class: "muted small", "aria-live": "polite" }, words);
    this.bar = el("progress", { max: 1, value: 0, hidden: true, "aria-label": "progress of the training" });
    this.notes = el("ul", { class: "notes", hidden: true });
    this.legend = el("div", { class: "chips small" });
    this.plot = el("div", { hidden: true }, this.legend);
    this.result = el("div");
    box.replaceChildren(el("header", {}, el("h2", {}, title)),
      el("div", { class: "train" }, el("label", {}, "model", this.model), el("label", {}, "epochs", this.epochs), this.go, this.halt, this.save),
      this.bar, this.words, this.notes, this.plot, this.result);
    this.chart = new LineChart(this.plot, { height: 190, y: "log", yLabel: "relative error", xLabel: "epoch", title: "Loss", whole: true });
  }

  async start() {
    complain(null);
    const epochs = this.epochs.value === "" ? null : this.epochs.valueAsNumber;
    try {
      const progress = await ask("train", { source: this.source(), model: this.model.value, epochs });
      this.losses = [];
      this.result.replaceChildren();
      this.save.hidden = true;
      this.update(progress);
      this.watch();
    } catch (error) {
      complain(error);
    }
  }

  async stop() {
    this.halt.disabled = true;
    try {
      await ask("stop");
    } catch (error) {
      complain(error);
    }
  }

  async watch() {
    if (this.watching) return;
    this.watching = true;
    try {
      for (;;) {
        await new Promise((done) => setTimeout(done, 400));
        const progress = await ask("progress", { since: this.losses.length });
        this.update(progress);
        if (progress.over) break;
      }
    } catch (error) {
      complain(error);
    } finally {
      this.watching = false;
    }
  }

  update(progress) {
    this.losses.push(...progress.losses);
    const last = this.losses.at(-1);
    const running = !progress.over;
    this.go.disabled = running;
    this.halt.disabled = !running;
    this.bar.hidden = !running;
    this.bar.value = last && progress.stage === "training" ? last.epoch / progress.total : 0;
    let words = STAGES[progress.stage];
    if (last) {
      words += `: epoch ${last.epoch} of ${progress.total}, validation error ${number(100 * last.best)} %`;
      if (running) words += `, about ${Math.ceil((last.seconds / last.epoch) * (progress.total - last.epoch))} s left`;
    }
    this.words.textContent = `${progress.model} on ${progress.source}: ${words}`;
    this.notes.hidden = !progress.choices.length;
    this.notes.replaceChildren(...progress.choices.map((reason) => el("li", {}, reason)));
    this.plot.hidden = !this.losses.length;
    this.legend.replaceChildren(key("muted", "training"), key(progress.model.toLowerCase(), "validation"));
    if (this.losses.length > 1) {
      const column = (name) => Float64Array.from(this.losses, (one) => one[name] ?? NaN);
      this.chart.set(column("epoch"), [{ name: "muted", label: "training", y: column("train"), width: 1.2 }, { name: progress.model.toLowerCase(), label: "validation", y: column("validation"), width: 1.8 }]);
    }
    if (progress.failure) complain(new Error(progress.failure));
    if (progress.over && !progress.failure) {
      this.save.hidden = false;
      this.finished(progress, this.result).catch(complain);
    }
  }
}

/** The verdict and the errors beside the baselines. */
export function verdictTable(outcome) {
  const few = outcome.outputs.length <= 4;
  const each = few ? outcome.outputs.map((name) => `RMSE ${name}`) : ["RMSE / RMS"];
  const heads = ["", "rel. L2", ...each, "fit"].map((text) => el("th", { scope: "col" }, text));
  const rows = Object.entries(outcome.test).map(([name, one]) => {
    const own = name === outcome.label;
    const mark = own ? outcome.label.toLowerCase() : name.includes("linear") ? "linear" : null;
    return el("tr", { class: own ? "best" : null }, el("td", {}, mark ? el("span", { class: "swatch", mark }) : null, name), el("td", {}, number(100 * one.l2), " %"), ...(few ? one.rmse : [one.nrmse]).map((error) => el("td", {}, number(error))), el("td", {}, number(one.fit), " %"));
  });
  return [el("p", { class: "verdict" }, outcome.verdict), el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows)))];
}
