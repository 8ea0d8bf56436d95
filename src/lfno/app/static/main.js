// Views, theme, and the order in which the parts start.

import * as explore from "./explore.js";
import { redrawAll } from "./plot.js";
import * as signals from "./signals.js";
import { TrainingPanel, verdictTable } from "./training.js";
import { ask, byId, complain } from "./tools.js";

const VIEWS = ["systems", "signals"];

function view(name) {
  for (const one of VIEWS) {
    byId(`view-${one}`).hidden = one !== name;
    byId(`tab-${one}`).setAttribute("aria-pressed", String(one === name));
  }
}

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const set = (name) => {
    root.dataset.theme = name;
    redrawAll();
  };
  const kept = localStorage.getItem("theme");
  if (kept === "light" || kept === "dark") set(kept);
  dark.addEventListener("change", redrawAll);
  byId("theme").addEventListener("click", () => {
    const now = root.dataset.theme ?? (dark.matches ? "dark" : "light");
    const next = now === "dark" ? "light" : "dark";
    localStorage.setItem("theme", next);
    set(next);
  });
}

theme();
for (const name of VIEWS) byId(`tab-${name}`).addEventListener("click", () => view(name));
document.addEventListener("view", (event) => view(event.detail));
byId("alert").lastElementChild.addEventListener("click", () => complain(null));
signals.start();
new TrainingPanel(byId("train-system"), {
  title: "Train a model of this system",
  words: "The model is trained on the samples of the data set, beside the shipped ones, and joins the curves as “yours”.",
  source: () => explore.current().name,
  epochs: 20,
  finished: async (progress, box) => {
    const outcome = await ask("outcome");
    box.replaceChildren(...verdictTable(outcome));
    if (explore.current().name === progress.source) await explore.refresh();
  },
});
document.addEventListener("system", (event) => {
  byId("train-system").hidden = event.detail.grid.length > 2; // a flow takes hours on a CPU: that is for the command line
});
explore.start().catch(complain);
