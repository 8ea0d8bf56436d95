// The view "systems": choose a system and an input, and show the truth and the predictions of the models.

import { chips, Curves } from "./curves.js";
import { Fields } from "./fields.js";
import { ModesPanel } from "./modes.js";
import { Playground, Slider } from "./playground.js";
import { RunList, startForm } from "./runs.js";
import { ABOUT, isRich, mark, page } from "./state.js";
import { follow } from "./store.js";
import { SweepPanel } from "./sweep.js";
import { ask, byId, compact, complain, el, hundredths, latest, notes, number, pause, took, trying } from "./tools.js";

const SYMBOLS = { alpha: "α", beta: "β", gamma: "γ", rho: "ρ", sigma: "σ", nu: "ν", D0: "D₀", D1: "D₁", u0: "u₀", v0: "v₀", ratio: "g/l" };
const BRIEF = 80; // ms that the next input waits for the models of an oscillator
const SETTLE = 300; // ms between the last change of the input and the request for the split
let parts = null; // the panels of the system
let waiting = null; // the timer of the split
let runs = null;
let refused = null; // the error message for the system or the input in the address

export async function open(name, query) {
  if (!page.catalogue) {
    page.catalogue = await ask("systems");
    list();
    runs = new RunList(el("div"), { filter: (run) => run.system !== null && run.system === page.system?.name, finished: modelsChanged });
    follow(() => page.system && modelsChanged());
  }
  const known = page.catalogue.systems.some((one) => one.name === name);
  const wanted = known ? name : (page.system?.name ?? page.catalogue.opening);
  if (name && !known) refused = new Error(`there is no system “${name.slice(0, 40)}”; choose one of the list`);
  if (page.system?.name === wanted && !Object.keys(query).length) return complain(refused);
  await choose(wanted, query);
}

function list() {
  let group = "";
  for (const one of page.catalogue.systems) {
    if (one.group !== group) byId("systems").append(el("h2", {}, (group = one.group)));
    byId("systems").append(el("a", { href: `#systems/${one.name}`, "data-name": one.name }, one.title));
  }
}

async function choose(name, query) {
  const system = page.catalogue.systems.find((one) => one.name === name);
  clearTimeout(waiting); // do not request the split of the previous system
  Object.assign(page, { system, truth: null, answers: new Map() });
  page.models = system.models;
  const keys = system.models.map((one) => one.key);
  page.hidden = new Set(keys.some(isRich) ? keys.filter((one) => !isRich(one)) : []); // at first, show only models that were trained on random inputs
  for (const link of byId("systems").querySelectorAll("a")) {
    link.setAttribute("aria-current", String(link.dataset.name === name));
    if (link.dataset.name === name) byId("systems").scrollLeft = link.offsetLeft - byId("systems").clientWidth / 3; // on a phone
  }
  byId("title").textContent = system.title;
  byId("equation").textContent = system.equation;
  const values = Object.entries(system.values).filter(([key]) => key !== "discretisation").map(([key, given]) => `${SYMBOLS[key] ?? key} = ${typeof given === "number" ? number(given, 4) : given}`);
  byId("conditions").textContent = `${system.conditions};  ${values.join(", ")}`;
  byId("view-systems").dataset.subject = system.title;
  byId("origin").replaceChildren(...origin(system));
  byId("note").hidden = !system.note;
  byId("note").textContent = system.note;
  build(query);
  page.query = parts.control.query(); // modelsChanged() needs the new input
  await Promise.all([move(page.query), modelsChanged()]);
}

/** What the page shows, where its models come from, and what a newcomer can do next. */
function origin(system) {
  const rich = system.models.filter((one) => isRich(one.key));
  const shown = (rich.length ? rich : system.models).map((one) => (one.key === "marching" ? "network" : one.label));
  const names = shown.length > 1 ? `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}` : shown[0];
  const were = shown.length > 1 ? "were" : "was";
  const inputs = rich.length ? "random inputs" : "inputs of one shape";
  const source = names ? `The ${names} ${were} fitted to simulated responses of this equation to ${inputs}. Choose an input, and compare with the solution of the equation (truth). ` : "";
  return [source, "Next: ", el("a", { class: "link", href: "#signals" }, "fit such models to your own signals"), "."];
}

function build(query) {
  const ode = page.system.grid.length === 1;
  byId("view-systems").classList.toggle("field", !ode);
  byId("view-systems").classList.remove("many");
  for (const id of ["response", "split", "errors", "modes", "sweep", "control", "train-system"]) byId(id).replaceChildren();
  const Control = ode ? Playground : Slider;
  const control = new Control(byId("control"), page.system, page.catalogue, query, (given) => move(given));
  const view = ode ? new Curves(page) : new Fields(page);
  byId("errors").append(el("header", {}, el("h2", {}, "Error and time for this input")), el("div", { class: "scroll", id: "error-table" }, el("p", { class: "muted small" }, "The models are being loaded…")));
  parts = { control, view, modes: new ModesPanel(byId("modes"), page), sweep: new SweepPanel(byId("sweep"), page) };
  byId("errors").hidden = byId("split").hidden = !page.models.length;
  byId("train-system").hidden = page.system.grid.length > 2; // on a CPU, training for a flow takes hours: use the command line
  const finished = runs.box;
  byId("train-system").append(el("header", {}, el("h2", {}, "Train a model of this system")),
    el("p", { class: "muted small" }, `The model is trained on ${page.system.trained_on}. It is then shown beside the other models.`),
    el("p", { class: "muted small" }, "lfno first solves the equation for the training inputs, then makes short trial runs, then trains. On a CPU this takes minutes, and more than ten for an LFNO of some systems. Stop keeps the model only after the trial runs."),
    startForm({ models: ["lfno", "fno", "lno"], checked: ["lfno"], epochs: 20, order: () => ({ system: page.system.name }) }), finished);
}

/** Request the list of models again, because a model may have been trained, renamed or deleted. */
async function modelsChanged() {
  const name = page.system.name;
  runs.update();
  const found = (await ask("models", { system: name })).models;
  if (name !== page.system.name) return;
  const before = JSON.stringify(page.models);
  page.models = found;
  if (JSON.stringify(found) !== before) {
    for (const key of page.answers.keys()) if (!found.some((one) => one.key === key)) page.answers.delete(key);
    byId("errors").hidden = byId("split").hidden = !found.length;
    await move(page.query);
  }
}

/** Show another input: first the truth, then the visible models. If the input does not change for SETTLE, also request the split
 *  and the predictions of the hidden models. The curves of an oscillator follow a slider at once, also while a
 *  slow model still answers. */
const move = latest(async (query) => {
  const name = page.system.name;
  page.query = query;
  const start = performance.now();
  try {
    const truth = await ask("truth", { system: name, ...query });
    if (name !== page.system.name) return;
    complain(refused);
    refused = null;
    page.truth = truth;
    const old = page.answers;
    page.answers = new Map();
    parts.view.show(old);
    if (document.body.dataset.split === name) stale();
    byId("view-systems").classList.add("ready");
    parts.control.tell(truth);
    remember();
    document.body.dataset.truth = String(Math.round(performance.now() - start));
    const models = fill(name, query, start);
    await (page.system.grid.length > 1 ? models : Promise.race([models, pause(BRIEF)]));
  } catch (error) {
    if (name !== page.system.name) return; // the user has chosen another system
    complain(error);
    if (page.truth) return parts.control.reset(page.shown);
    if (refused) return byId("view-systems").classList.add("ready");
    refused = error; // the input in the address is not allowed: show the default input of the system
    build({});
    move(parts.control.query());
  }
});

const fill = latest(async (name, query, start) => {
  const stale = () => name !== page.system.name || query !== page.query; // the user has gone on
  try {
    await Promise.all(page.models.filter((one) => !page.hidden.has(one.key)).map((one) => answered(name, query, one.key)));
    if (stale()) return;
    draw();
    document.body.dataset.shown = `${name} ${JSON.stringify(query)}`;
    document.body.dataset.took = String(Math.round(performance.now() - start));
    clearTimeout(waiting);
    waiting = setTimeout(() => settled(name, query).catch((error) => name === page.system.name && complain(error)), SETTLE);
  } catch (error) {
    if (!stale()) complain(error);
  }
});

/** Show that the transient and the steady part belong to the previous input. */
function stale() {
  byId("split").classList.add("stale");
  parts.view.words.wait();
}

async function answered(name, query, key) {
  const answer = await ask("answer", { system: name, ...query, model: key });
  if (name === page.system.name && query === page.query) page.answers.set(key, answer);
}

async function settled(name, query) {
  await parts.view.split(query);
  for (const { key } of page.models) {
    if (name !== page.system.name || query !== page.query) return; // the user has chosen another input
    if (!page.answers.has(key)) await answered(name, query, key);
  }
  if (name === page.system.name && query === page.query) chips(page);
}

function remember() {
  page.shown = page.query;
  const query = new URLSearchParams(parts.control.address());
  history.replaceState(null, "", `#systems/${page.system.name}?${query}`);
}

function draw() {
  parts.view.show();
  errorTable();
  parts.modes.update();
  parts.sweep.update();
}

/** Show all models, and the input on which the models of the paper were trained. */
page.toPaper = () => {
  page.hidden.clear();
  parts.control.toPaper();
};

page.toggle = (key) => trying(async () => {
  const { name } = page.system;
  if (!page.hidden.delete(key)) page.hidden.add(key);
  else if (!page.answers.has(key)) await answered(name, page.query, key);
  if (name === page.system.name) draw();
});

/** Kinds of models whose names say little. */
const KINDS = { feedback: ABOUT.feedback, equation: "an equation whose terms were found in data", marching: "a network that predicts a field frame by frame" };
const kind = (key) => key.split(" ")[0];

function errorTable() {
  const rows = page.models.map((one) => page.answers.get(one.key)).filter((one) => one && !page.hidden.has(one.key));
  const best = Math.min(...rows.map((one) => one.l2));
  const body = rows.map((one) =>
    el("tr", { class: one.l2 === best && rows.length > 1 ? "best" : null },
      el("td", { class: "name" }, el("span", { class: "swatch", mark: mark(one.key) }), one.label), el("td", {}, hundredths(one.l2)), el("td", {}, hundredths(one.linf)),
      el("td", {}, took(one.ms)), el("td", { class: "muted" }, compact(one.parameters))));
  const heads = ["", "L2 %", "L∞ %", "time", "parameters"].map((text) => el("th", { scope: "col" }, text));
  const solve = el("tr", {}, el("td", {}, el("span", { class: "swatch", mark: "truth" }), "truth"), el("td", {}), el("td", {}), el("td", {}, took(page.truth.ms)), el("td", {}));
  byId("error-table").replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...body, solve)),
    el("p", { class: "muted small legend-line" }, "L2 and L∞: relative errors. Time: one solve of the equation, or one answer of the model, for this input alone. A known equation can be faster than a model; a model is of use where no equation is known.", page.models.some((one) => isRich(one.key)) ? " Models with the mark (paper) were trained on one shape of input, the others on random inputs." : "",
      rows.filter((one) => kind(one.key) in KINDS).map((one) => ` ${one.label[0].toUpperCase()}${one.label.slice(1)}: ${KINDS[kind(one.key)]}.`).join("")),
    ...notes(rows.flatMap((one) => one.notes.map((note) => [one.label, note])), "beyond"));
}
