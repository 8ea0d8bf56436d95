// The panel of modes for small inputs: modes of the linearised equation and of the models. Also the poles of the layers.

import { poleTable, SPlane } from "./splane.js";
import { mark } from "./state.js";
import { ask, complain, el, notes, number, percent } from "./tools.js";

export class ModesPanel {
  constructor(box, page) {
    Object.assign(this, { box, page, found: new Map(), shownFor: "" });
    this.table = el("div", { class: "scroll modes-table" }, el("p", { class: "muted small" }, "The modes are being computed…"));
    this.poles = el("div");
    this.details = el("details", { ontoggle: () => this.showPoles() }, el("summary", {}, "Poles of the layers"), this.poles);
    box.append(el("header", {}, el("h2", {}, "Modes for small inputs")), this.table, this.details);
    this.box.hidden = !page.models.length;
  }

  async update() {
    const { system, models } = this.page;
    this.box.hidden = !models.length;
    const keys = ["truth", ...models.map((one) => one.key).filter((key) => !this.page.hidden.has(key))];
    if (this.details.open) this.showPoles();
    if (this.shownFor === keys.join()) return;
    this.shownFor = keys.join();
    if (system.grid.length > 2) return this.table.replaceChildren(el("p", { class: "muted small" }, "The page shows no modes for a flow."));
    const answers = [];
    for (const key of keys) {
      // one after the other, because the modes of a network take seconds, and the curves must not wait
      if (!this.found.has(key)) this.found.set(key, ask("modes", { system: system.name, model: key }).catch((error) => ({ modes: [], problem: error.message, caveat: "" })));
      answers.push(await this.found.get(key));
      if (system !== this.page.system || this.shownFor !== keys.join()) return;
    }
    this.draw(keys, answers);
  }

  draw(keys, answers) {
    if (answers.every(({ modes }) => !modes.length)) {
      this.table.replaceChildren(el("p", { class: "muted small" }, answers.map(({ problem }) => problem).find(Boolean) ?? "No modes were found."));
      this.box.dataset.ready = "yes";
      return;
    }
    const label = (key) => (key === "truth" ? "truth" : this.page.models.find((one) => one.key === key)?.label ?? key);
    const rows = keys.flatMap((key, n) => {
      const { modes, problem } = answers[n];
      const name = el("td", {}, el("span", { class: "swatch", mark: key === "truth" ? "truth" : mark(key) }), label(key));
      if (!modes.length) return [el("tr", {}, name, el("td", { colspan: 3, class: "muted wrap" }, problem || "none found"))];
      return modes.slice(0, 3).map((mode, k) => el("tr", {}, k ? el("td", {}) : name, el("td", { title: spread(mode.frequency_interval, "Hz") }, mode.frequency ? number(mode.frequency) : "–"),
        el("td", { title: spread(mode.damping_interval, "") }, mode.frequency ? percent(mode.damping_ratio) : "decays"), el("td", {}, mode.pole[0] < 0 ? number(-1 / mode.pole[0]) : mode.pole[0] > 0 ? "grows" : "∞")));
    });
    const heads = ["", "Hz", "damping", "τ [s]"].map((text) => el("th", { scope: "col" }, text));
    const doubts = keys.map((key, n) => [label(key), answers[n].modes.length ? answers[n].caveat : ""]).filter(([, caveat]) => caveat);
    const why = el("details", { class: "note small caveat" }, el("summary", {}, `${doubts.map(([who]) => who).join(", ")}: modes that are not physical, and why`), ...notes(doubts, ""));
    this.table.replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows)), doubts.length ? why : "");
    this.box.dataset.ready = "yes";
  }

  async showPoles() {
    if (!this.details.open) return;
    const { system, query } = this.page;
    try {
      const [key, poles] = await this.firstPoles(system, query);
      if (system !== this.page.system) return;
      if (!poles) return this.poles.replaceChildren(el("p", { class: "muted small" }, "No model that is shown has layers with poles. Switch on an LFNO or an LNO."));
      if (!this.plane?.box.isConnected) {
        this.poles.replaceChildren();
        this.plane = new SPlane(this.poles, 260);
        this.list = el("div", { class: "scroll" });
        this.whose = el("b", {});
        this.poles.append(el("p", { class: "muted small" }, this.whose, " Area: contribution of the pole to the transient response of its layer to this input. A layer can have other poles than the system; the modes above are the ones to compare."), this.list);
      }
      this.whose.textContent = `Poles of ${this.page.models.find((one) => one.key === key)?.label ?? key}.`;
      this.plane.set(poles, mark(key));
      this.list.replaceChildren(poleTable(poles, this.plane));
    } catch (error) {
      complain(error);
    }
  }

  /** [key, poles] of the first visible model whose layers have poles. */
  async firstPoles(system, query) {
    for (const { key } of this.page.models.filter((one) => !this.page.hidden.has(one.key))) {
      const { poles } = await ask("poles", { system: system.name, ...query, model: key });
      if (poles) return [key, poles];
    }
    return [null, null];
  }
}

/** An interval as text, for the tooltip of a number. */
function spread(interval, unit) {
  if (!interval || interval[0] === null || interval[1] === null) return null;
  return `95 %: ${number(interval[0], 4)} to ${number(interval[1], 4)} ${unit}`.trim();
}
