// Forms and cards for runs: start, watch, stop, continue, rename and delete them. The server carries out the runs.

import { Chart } from "./chart.js";
import { ABOUT } from "./state.js";
import { refresh, store } from "./store.js";
import { ask, complain, count, duration, el, key, trying } from "./tools.js";

const STAGES = {
  waiting: "in the queue", starting: "starting", preparing: "reading the data", pilot: "pilot: short trial runs that choose options of the training",
  training: "training", fitting: "fitting", judging: "testing against the baselines", done: "finished", stopped: "stopped", failed: "failed", interrupted: "interrupted",
};

/** A form that starts runs. order() returns the data: {system} or {file}. */
export function startForm({ models, checked, epochs, order, begun = () => {} }) {
  const boxes = models.map((name) =>
    el("label", { class: "switch", title: ABOUT[name] }, el("input", { type: "checkbox", name: "model", value: name, checked: checked.includes(name) }), store.models[name] ?? name.toUpperCase()));
  const length = el("input", { type: "number", min: 1, max: 5000, step: 1, value: epochs, placeholder: "automatic", "aria-label": "epochs of the networks" });
  const start = async () => {
    const chosen = boxes.map((box) => box.firstElementChild).filter((box) => box.checked).map((box) => box.value);
    const found = await trying(() => ask("train", { ...order(), models: chosen, epochs: length.value === "" ? null : Math.round(length.valueAsNumber) }));
    if (found) begun(found.runs);
    await refresh();
  };
  const words = models.map((name) => el("li", {}, el("b", {}, store.models[name] ?? name.toUpperCase()), `: ${ABOUT[name]}`));
  return el("div", {}, el("div", { class: "train" }, el("div", { class: "switches", role: "group", "aria-label": "models to fit" }, ...boxes), el("label", {}, "epochs of the networks", length),
    el("button", { type: "button", class: "primary", "data-do": "start", onclick: start }, "Start")),
    el("details", {}, el("summary", {}, "What these models are"), el("ul", { class: "notes" }, ...words)));
}

/** Rename and delete buttons of a file or a run. */
export function itemButtons(kind, one, gone = () => {}) {
  const rename = async () => {
    const name = prompt("New name", one.name);
    if (name) await trying(async () => refresh(await ask("rename", { kind, id: one.id, name })));
  };
  const remove = async () => {
    const own = kind === "files" ? store.runs.filter((run) => run.file === one.id).length : 0;
    if (!confirm(own ? `Delete ${one.name} and its ${count(own, "run")}?` : `Delete ${one.name}?`)) return;
    const listing = await trying(() => ask("delete", { kind, id: one.id }));
    if (!listing) return;
    gone();
    await refresh(listing);
  };
  return [
    el("button", { type: "button", class: "tool", "data-do": "rename", title: "rename", "aria-label": `rename ${one.name}`, onclick: rename }, "✎"),
    el("button", { type: "button", class: "tool", "data-do": "delete", title: "delete", "aria-label": `delete ${one.name}`, onclick: remove }, "✕"),
  ];
}

/** The stage of a run as text, with epochs and remaining time. */
export function runWords(run) {
  let words = STAGES[run.stage] ?? run.stage;
  if (!run.over && run.total) words += `: epoch ${run.done} of ${run.total}`;
  if (!run.over && run.seconds_left) words += `, about ${duration(run.seconds_left)} left`;
  return words;
}

/** The cards of all runs for which filter(run) is true. finished(run) is called when such a run ends. */
export class RunList {
  constructor(box, { filter, finished = () => {} }) {
    Object.assign(this, { box, filter, finished, cards: new Map() });
    box.classList.add("runs");
  }

  update() {
    const runs = store.runs.filter(this.filter);
    for (const [id, card] of this.cards) {
      if (runs.some((run) => run.id === id)) continue;
      card.node.remove();
      this.cards.delete(id);
    }
    runs.forEach((run, place) => {
      if (!this.cards.has(run.id)) this.cards.set(run.id, new RunCard(run));
      const card = this.cards.get(run.id);
      if (this.box.children[place] !== card.node) this.box.insertBefore(card.node, this.box.children[place] ?? null);
      if (card.update(run)) this.finished(run);
    });
  }
}

class RunCard {
  constructor(run) {
    this.id = run.id;
    this.losses = [];
    this.name = el("b", { class: "run-name" });
    this.words = el("span", { class: "muted", "aria-live": "polite" });
    this.bar = el("progress", { max: 1, "aria-label": "progress" });
    this.halt = el("button", { type: "button", class: "button small", "data-do": "stop", onclick: () => this.stop() }, "Stop");
    this.again = el("button", { type: "button", class: "button small", "data-do": "continue", onclick: () => trying(async () => { await ask("continue", { run: this.id }); await refresh(); }) }, "Continue");
    this.items = el("span", {});
    this.told = el("p", { class: "note small", hidden: true });
    this.messages = el("ul", { class: "notes" });
    this.plot = el("div", { hidden: true }, el("div", { class: "chips small" }, key("muted", "training"), key("lfno", "validation")));
    this.details = el("details", { ontoggle: () => this.detail() }, el("summary", {}, "Learning curve and choices"), this.plot, this.messages);
    this.node = el("article", { class: "run", "data-run": run.id }, el("div", { class: "run-head" }, this.name, this.words, el("span", { class: "grow" }), this.halt, this.again, this.items), this.bar, this.told, this.details);
  }

  /** Show the state of a run. Return true if the run has ended since the last call. */
  update(run) {
    const ended = this.run !== undefined && !this.run.over && run.over;
    if (run.name !== this.run?.name) {
      this.name.textContent = run.name;
      this.items.replaceChildren(...itemButtons("runs", run));
    }
    this.run = run;
    this.node.dataset.stage = run.stage;
    this.words.textContent = runWords(run);
    this.bar.hidden = run.over || run.stage === "waiting";
    const share = run.total && run.stage !== "preparing" ? run.done / run.total : null;
    if (share === null) this.bar.removeAttribute("value");
    else this.bar.value = share;
    this.halt.hidden = run.over;
    this.halt.textContent = this.stopped && run.stage === "training" ? "Stop at once" : "Stop";
    this.again.hidden = !["interrupted", "failed"].includes(run.stage) && !(run.stage === "stopped" && !run.ready);
    this.told.hidden = !run.words;
    this.told.textContent = run.words ?? "";
    this.messages.replaceChildren(...run.messages.map((message) => el("li", {}, message)));
    if (this.details.open) this.detail();
    return ended;
  }

  async stop() {
    this.stopped = true;
    await trying(async () => {
      await ask("stop", { run: this.id });
      await refresh();
    });
  }

  async detail() {
    if (!this.details.open || this.asking) return;
    this.asking = true;
    try {
      const found = await ask("progress", { run: this.id, since: this.losses.length });
      this.losses.push(...found.losses);
      this.plot.hidden = this.losses.length < 2;
      if (this.losses.length < 2) return;
      this.chart ??= new Chart(this.plot, { height: 170, title: "Learning curve", log: true, yLabel: "relative error", xLabel: "epoch" });
      const column = (name) => Float64Array.from(this.losses, (one) => one[name] ?? NaN);
      this.chart.set(column("epoch"), [{ name: "muted", label: "training", y: column("train"), width: 1.2 }, { name: "lfno", label: "validation", y: column("validation"), width: 1.8 }]);
    } catch (error) {
      complain(error);
    } finally {
      this.asking = false;
    }
  }
}

