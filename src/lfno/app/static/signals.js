// The view "signals": the user's files. List and upload files, choose the roles of their variables, draw signals, fit models.

import { Chart } from "./chart.js";
import { Comparison } from "./compare.js";
import { drawFields } from "./fieldplot.js";
import { itemButtons, RunList, runWords, startForm } from "./runs.js";
import { ABOUT } from "./state.js";
import { follow, refresh, store } from "./store.js";
import { answer, ask, axisLabel, byId, channel, complain, count, el, number, picker, trying, unpack } from "./tools.js";
import { VariableTable } from "./variables.js";

const LIMIT = 64 * 2 ** 20; // bytes; largest file that the server accepts
const MARKS = ["measured", "steady", "lno", "transient", "yours", "lfno"]; // colours of the signals
let file = null; // the open file, as the server describes it
let runs = null;
let comparison = null;

export function start() {
  byId("file").addEventListener("change", (event) => upload([...event.target.files]));
  byId("example").addEventListener("click", () => trying(async () => opened(await ask("example"))));
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      if (event.defaultPrevented) return;
      event.preventDefault();
      byId("drop").classList.toggle("over", name === "dragover");
      if (name === "drop" && event.dataTransfer.files.length) upload([...event.dataTransfer.files]);
    });
  }
  runs = new RunList(el("div"), { filter: (run) => file !== null && run.file === file.id, finished: () => comparison?.update() });
  comparison = new Comparison(byId("compare"), () => file?.id);
  follow(shelf);
  follow(() => {
    runs.update();
    comparison.update();
  });
}

/** Open the file with this identity. */
export async function open(identity) {
  if (!identity || identity === file?.id) return;
  byId("file-name").textContent = "reading…";
  byId("steps").hidden = true;
  try {
    if (!Object.keys(store.models).length) await refresh(); // the form lists the models
    show(await ask("file", { file: identity }));
  } catch (error) {
    close();
    throw error;
  } finally {
    byId("file-name").textContent = "";
  }
}

function close() {
  file = null;
  byId("found").hidden = true;
  byId("steps").hidden = false;
  byId("fits").replaceChildren();
  comparison.update();
  history.replaceState(null, "", "#signals");
}

async function upload(files) {
  if (!files.length) return;
  complain(null);
  byId("file-name").textContent = `reading ${files[0].name}${files.length > 1 ? ` and ${files.length - 1} more` : ""}…`;
  try {
    let found = null;
    for (const one of files) {
      if (one.size > LIMIT) throw new Error(`${one.name} has ${number(one.size / 2 ** 20)} MB, and the limit is 64 MB; use \`lfno fit FILE\` in a terminal, which has no such limit`);
      const headers = { "X-File-Name": encodeURIComponent(one.name), ...(found ? { "X-Beside": found.id } : {}) };
      found = await answer(() => fetch("/api/upload", { method: "POST", body: one, headers }));
    }
    opened(found);
  } catch (error) {
    complain(error);
  } finally {
    byId("file-name").textContent = "";
    byId("file").value = "";
  }
}

function opened(found) {
  show(found);
  history.pushState(null, "", `#signals/${found.id}`);
  if (byId("view-signals").hidden) dispatchEvent(new HashChangeEvent("hashchange"));
  refresh().catch(complain);
}

/** Show the list of files with their runs. */
function shelf() {
  const list = store.files.map((one) => {
    const own = store.runs.filter((run) => run.file === one.id);
    return el("div", { class: "shelf-item", "data-file": one.id }, el("div", { class: "shelf-line" }, el("a", { href: `#signals/${one.id}`, "aria-current": String(one.id === file?.id) }, one.name),
      ...itemButtons("files", one, () => one.id === file?.id && close())),
      ...own.map((run) => el("div", { class: "shelf-run muted small", "data-run": run.id }, run.name.split(" of ")[0], el("span", {}, ` ${run.over ? run.stage : runWords(run)}`))));
  });
  byId("shelf").replaceChildren(el("h2", {}, "Files"), ...(list.length ? list : [el("p", { class: "muted small pad" }, "No files yet.")]));
}

function show(found) {
  file = found;
  byId("view-signals").dataset.subject = found.name;
  const variables = new VariableTable(found, (options) => read(options), (words) => signals({ problem: words, notes: [] }));
  const problem = el("p", { class: "problem", id: "problem", role: "alert", hidden: true });
  const notes = el("ul", { class: "notes", id: "notes" });
  byId("found").replaceChildren(el("section", { class: "panel", id: "inside" }, el("header", {}, el("h2", {}, found.name), el("span", { class: "muted small" }, found.files.length > 1 ? `${found.files.length} files: ${found.files.join(", ")}` : "roles of its variables")), variables.node, problem, notes),
    el("section", { class: "panel", id: "drawn" }));
  byId("found").hidden = false;
  byId("shelf").querySelector('[aria-current="true"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });
  byId("steps").hidden = true;
  byId("fits").replaceChildren(el("section", { class: "panel", id: "train-file" }, el("header", {}, el("h2", {}, "Fit models to these signals")),
    el("p", { class: "muted small" }, "Runs are carried out one after the other. They continue if you close this page, as long as `lfno app` runs in the terminal. Without a number of epochs, lfno chooses the number from the data."),
    startForm({ models: Object.keys(ABOUT), checked: ["linear", "feedback", "lfno"], epochs: "", order: () => ({ file: file.id }) }), runs.box));
  signals(found);
  runs.update();
  comparison.reset();
  shelf();
}

async function read(options) {
  try {
    complain(null);
    signals(await ask("read", { file: file.id, options }));
  } catch (error) {
    signals({ problem: error.message, notes: [] });
  }
}

/** Show the signals of a file, or the reason why the file cannot be read. */
function signals(found) {
  byId("problem").hidden = found.problem === null;
  byId("problem").textContent = found.problem ?? "";
  byId("notes").replaceChildren(...found.notes.map((note) => el("li", {}, note)));
  byId("drawn").hidden = byId("train-file").hidden = found.problem !== null;
  if (found.problem !== null) return;
  const [least, most] = found.lengths;
  const size = (axis, last) => (last && least < most ? `${least} to ${most}` : axis.size);
  const grid = found.axes.map((axis, k) => `${size(axis, k === found.axes.length - 1)} points of ${axis.name}, ${number(axis.step, 4)} ${axis.unit} apart`).join("; ");
  const { train, validation, test } = found.samples;
  const words = `${found.kind}; ${grid}; ${count(train, found.unit)} to train, ${validation} to validate, ${test} to test`;
  const body = el("div");
  byId("drawn").replaceChildren(el("header", {}, el("h2", {}, "The signals"), el("span", { class: "muted small" }, words)), body);
  const show = (drawn) => draw(body, drawn, found);
  if (found.runs > 1) byId("drawn").firstElementChild.append(el("span", { class: "grow" }), picker("run", found.runs, async (sample) => show(await ask("signals", { file: file.id, sample }))));
  show(found.drawn);
}

function draw(body, drawn, found) {
  body.replaceChildren();
  if (drawn.axes && drawn.axes.length > 1) return drawFields(body, drawn.axes, [["input", drawn.input], ["output", drawn.output]]);
  const x = unpack(drawn.t).values;
  const group = [];
  const bands = (drawn.tests ?? []).map(([from, to]) => [from, to, "test"]);
  for (const [role, height] of [["input", 120], ["output", 190]]) {
    const array = unpack(drawn[role]);
    const series = found[role].map(([name, unit], k) => ({ name: role === "input" && k === 0 ? "input" : MARKS[k % MARKS.length], label: name, unit, y: channel(array, k).values, width: 1.2 }));
    const units = [...new Set(series.map((one) => one.unit))]; // signals with different units have different charts
    for (const unit of units) {
      const own = series.filter((one) => one.unit === unit);
      const last = role === "output" && unit === units.at(-1);
      const yLabel = own.length === 1 ? axisLabel(own[0].label, unit) : axisLabel(role, unit);
      new Chart(body, { height: units.length > 1 ? 150 : height, yLabel, xLabel: last ? axisLabel("t", found.axes.at(-1).unit) : "", group, legend: own.length > 1, title: own.length === 1 ? own[0].label : `${role}s` }).set(x, own, { bands });
    }
  }
}
