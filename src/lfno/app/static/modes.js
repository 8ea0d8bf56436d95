// Modes in small motion: those of the linearised equation beside those of the models; and the poles of the layers.

import { poleTable, SPlane } from "./splane.js";
import { mark } from "./state.js";
import { ask, complain, el, number, percent } from "./tools.js";

export class ModesPanel {
  constructor(box, page) {
    Object.assign(this, { box, page, found: new Map(), shownFor: "" });
    this.table = el("div", { class: "scroll modes-table" });
    this.poles = el("div");
    this.details = el("details", { ontoggle: () => this.showPoles() }, el("summary", {}, "Poles of the layers"), this.poles);
    box.append(el("header", {}, el("h2", {}, "Modes in small motion")), this.table, this.details);
    this.box.hidden = !page.models.length;
  }

  async update() {
    const { system, models } = this.page;
    this.box.hidden = !models.length;
    const keys = ["truth", ...models.map((one) => one.key).filter((key) => !this.page.hidden.has(key))];
    if (this.details.open) this.showPoles();
    if (this.shownFor === keys.join()) return;
    this.shownFor = keys.join();
    if (system.grid.length > 2) return this.table.replaceChildren(el("p", { class: "muted small" }, "A flow has no modes to compare."));
    const answers = [];
    for (const key of keys) {
      // one after the other: modes of a network take seconds, and the curves come first
      if (!this.found.has(key)) this.found.set(key, ask("modes", { system: system.name, model: key }).catch((error) => ({ modes: [], problem: error.message })));
      answers.push(await this.found.get(key));
      if (system !== this.page.system || this.shownFor !== keys.join()) return;
    }
    this.draw(keys, answers);
  }

  draw(keys, answers) {
    if (answers.every(({ modes }) => !modes.length)) {
      this.table.replaceChildren(el("p", { class: "muted small" }, answers.map(({ problem }) => problem).find(Boolean) ?? "None were found."));
      this.box.dataset.ready = "yes";
      return;
    }
    const label = (key) => (key === "truth" ? "truth" : this.page.models.find((one) => one.key === key)?.label ?? key);
    const rows = keys.flatMap((key, n) => {
      const { modes, problem } = answers[n];
      const name = el("td", {}, el("span", { class: "swatch", mark: key === "truth" ? "truth" : mark(key) }), label(key));
      if (!modes.length) return [el("tr", {}, name, el("td", { colspan: 3, class: "muted wrap" }, problem || "none found"))];
      return modes.slice(0, 3).map((mode, k) => el("tr", {}, k ? el("td", {}) : name, el("td", {}, number(mode.frequency)), el("td", {}, percent(mode.damping_ratio)), el("td", { class: "muted" }, spread(mode.frequency_interval))));
    });
    const heads = ["", "Hz", "damping", "95 % of Hz"].map((text) => el("th", { scope: "col" }, text));
    this.table.replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows)));
    this.box.dataset.ready = "yes";
  }

  async showPoles() {
    if (!this.details.open) return;
    const { system, query } = this.page;
    const key = this.page.models.find((one) => !one.key.startsWith("FNO") && !this.page.hidden.has(one.key))?.key;
    if (!key) return this.poles.replaceChildren(el("p", { class: "muted small" }, "No model with poles is shown."));
    try {
      const { poles } = await ask("poles", { system: system.name, ...query, model: key });
      if (system !== this.page.system || !poles) return;
      if (!this.plane?.box.isConnected) {
        this.poles.replaceChildren();
        this.plane = new SPlane(this.poles, 260);
        this.list = el("div", { class: "scroll" });
        this.poles.append(el("p", { class: "muted small" }, "Area: how much a pole rings for this input, as a share of its layer. A layer is not the system: compare the modes above."), this.list);
      }
      this.plane.set(poles, mark(key));
      this.list.replaceChildren(poleTable(poles, this.plane));
    } catch (error) {
      complain(error);
    }
  }
}

function spread(interval) {
  if (!interval || interval[0] === null || interval[1] === null) return "";
  return `${number(interval[0])} – ${number(interval[1])}`;
}
