// The user's own file: what is inside, its signals, a model of them.

import { ColourBar, colourRange, FieldMap } from "./maps.js";
import { LineChart } from "./plot.js";
import { poleTable, SPlane } from "./splane.js";
import { TrainingPanel, verdictTable } from "./training.js";
import { answer, ask, axisLabel, byId, channel, complain, el, key, number, percent, unpack } from "./tools.js";

const LIMIT = 64 * 2 ** 20;
const FIELDS = { input: "--input", output: "--output", time: "--time", sample: "--sample", axes: "--axes", dt: "--dt" };
const HINTS = { input: "f, or f1,f2", output: "u, or u1,u2", time: "t", sample: "run", axes: "sample,t", dt: "seconds" };
const SWITCHES = { resample: "--resample" };
let report = null;
let training = null;

export function start() {
  const drop = byId("drop");
  byId("file").addEventListener("change", (event) => event.target.files.length && receive(event.target.files[0]));
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop" && event.dataTransfer.files.length) {
        document.dispatchEvent(new CustomEvent("view", { detail: "signals" }));
        receive(event.dataTransfer.files[0]);
      }
    });
  }
  training = new TrainingPanel(byId("train-file"), {
    title: "Train a model of these signals", source: () => "file", finished: outcome, epochs: "",
    words: "Without a number of epochs the length of the run comes from the data.",
  });
}

async function receive(file) {
  complain(null);
  byId("found").hidden = byId("outcome").hidden = true;
  byId("file-name").textContent = `reading ${file.name}…`;
  try {
    if (file.size > LIMIT) throw new Error(`the file has ${number(file.size / 2 ** 20)} MB, the page takes 64 MB; use \`lfno fit FILE\`, which has no such limit`);
    const headers = { "X-File-Name": encodeURIComponent(file.name) };
    report = await answer(() => fetch("/api/upload", { method: "POST", body: file, headers }));
    byId("drop").classList.add("small-drop");
    byId("drop").querySelector("label").textContent = "Choose another file";
    byId("file-name").textContent = file.name;
    inside();
    signals(report);
    byId("found").hidden = false;
  } catch (error) {
    byId("file-name").textContent = "";
    complain(error);
  } finally {
    byId("file").value = "";
  }
}

/** The table of variables, and the form that says how they are read. */
function inside() {
  const heads = ["name", "shape", "range", "missing"].map((text) => el("th", { scope: "col" }, text));
  const rows = report.variables.map((one) =>
    el("tr", {}, el("td", {}, axisLabel(one.name, one.unit)), el("td", {}, one.shape.join(" × ")),
      el("td", {}, one.min === null ? one.dtype : `${number(one.min)} … ${number(one.max)}`), el("td", {}, one.missing ? String(one.missing) : "")));
  const list = el("datalist", { id: "variables" }, ...report.variables.map((one) => el("option", { value: one.name })));
  const inputs = Object.entries(FIELDS).map(([name, flag]) =>
    el("label", {}, flag, el("input", { type: "text", name, list: name === "dt" || name === "axes" ? null : "variables", placeholder: HINTS[name], value: report.options[name] ?? "", autocomplete: "off" })));
  const switches = Object.entries(SWITCHES).map(([name, flag]) =>
    el("label", { class: "switch" }, el("input", { type: "checkbox", name, checked: report.options[name] === true }), flag));
  const form = el("div", { class: "form", onkeydown: (event) => event.key === "Enter" && read(form) }, ...inputs, ...switches, el("button", { type: "button", class: "button", "data-do": "read", onclick: () => read(form) }, "Read again"));
  byId("inside").replaceChildren(el("header", {}, el("h2", {}, "What is inside")),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows))),
    el("p", { class: "problem", id: "problem", hidden: true }), el("ul", { class: "notes", id: "notes" }), list, form,
    el("code", { class: "command", id: "command" }));
  command(report.command);
}

/** The same in a terminal. */
function command(words) {
  byId("command").hidden = !words;
  byId("command").textContent = words ?? "";
}

async function read(form) {
  const options = {};
  for (const input of form.querySelectorAll("input")) options[input.name] = input.type === "checkbox" ? input.checked : input.value;
  try {
    const found = await ask("read", options);
    command(found.command);
    signals(found);
  } catch (error) {
    signals({ problem: error.message, notes: [] });
  }
}

function signals(found) {
  byId("problem").hidden = found.problem === null;
  byId("problem").textContent = found.problem ?? "";
  byId("notes").replaceChildren(...found.notes.map((note) => el("li", {}, note)));
  byId("drawn").hidden = byId("train-file").hidden = found.problem !== null;
  byId("outcome").hidden = true;
  byId("found").classList.toggle("alone", found.problem !== null);
  if (found.problem !== null) return;
  const grid = found.axes.map((axis) => `${axis.size} points of ${axis.name}, ${number(axis.step, 4)} ${axis.unit} apart`).join("; ");
  const { train, validation, test } = found.samples;
  const unit = found.kind === "one record" ? "windows" : "trajectories";
  const words = `${found.kind}; ${grid}; ${train} ${unit} to train, ${validation} to choose, ${test} to test`;
  const body = el("div");
  byId("drawn").replaceChildren(el("header", {}, el("h2", {}, "The signals"), el("span", { class: "muted small" }, words)), body);
  const show = (drawn) => draw(body, drawn, found);
  if (found.trajectories > 1) byId("drawn").firstElementChild.append(el("span", { class: "grow" }), picker("trajectory", found.trajectories, async (sample) => show(await ask("signals", { sample }))));
  show(found.drawn);
}

function picker(name, count, choose) {
  const input = el("input", { type: "number", min: 0, max: count - 1, value: 0, "aria-label": name });
  input.addEventListener("change", () => {
    const place = Math.min(count - 1, Math.max(0, Math.round(input.valueAsNumber || 0)));
    input.value = place;
    choose(place).then(() => complain(null)).catch(complain);
  });
  input.style.width = "72px";
  return el("label", { class: "muted small" }, `${name} `, input, ` of ${count}`);
}

const MARKS = ["measured", "steady", "lno", "transient", "yours", "lfno"];

function draw(body, drawn, found) {
  body.replaceChildren();
  if (drawn.axes && drawn.axes.length > 1) return drawFields(body, drawn.axes, [["input", drawn.input], ["output", drawn.output]], found);
  const x = unpack(drawn.t).values;
  const group = [];
  for (const [role, height] of [["input", 110], ["output", 190]]) {
    const array = unpack(drawn[role]);
    const series = found[role].map(([name, unit], k) => ({ name: role === "input" && k === 0 ? "input" : MARKS[k % MARKS.length], label: name, unit, y: channel(array, k).values, width: 1.2 }));
    const units = [...new Set(series.map((one) => one.unit))]; // metres and mm/s² do not share an axis
    for (const unit of units) {
      const own = series.filter((one) => one.unit === unit);
      const last = role === "output" && unit === units.at(-1);
      const yLabel = own.length === 1 ? axisLabel(own[0].label, unit) : axisLabel(role, unit);
      new LineChart(body, { height: units.length > 1 ? 150 : height, yLabel, xLabel: last ? axisLabel("t", found.axes.at(-1).unit) : "", group, title: role }).set(x, own);
    }
  }
}

/** The last moment of (x, y, t), or all of (x, t), one map for each array. */
function drawFields(body, axes, arrays) {
  const flow = axes.length === 3;
  const [rows, columns] = flow ? [axes[1], axes[0]] : [axes[0], axes[1]];
  const maps = el("div", { class: "maps three" });
  body.append(maps);
  const fields = arrays.map(([name, packed]) => [name, lastFrame(channel(unpack(packed), 0), flow)]);
  const answers = fields.filter(([name]) => name !== "input").map(([, field]) => field);
  for (const [name, field] of fields) {
    const range = colourRange(name === "input" ? [field] : answers); // what is compared has one scale
    const figure = el("figure", { class: "map" }, el("figcaption", {}, name));
    maps.append(figure);
    new FieldMap(figure, () => {}, flow ? 1 : 0.8).set(field, rows, columns, range, "signed", null, name);
    new ColourBar(figure).set(range, "signed", "");
  }
}

function lastFrame(array, flow) {
  if (!flow) return array;
  const [wide, high, moments] = array.shape;
  return { shape: [high, wide], values: Float32Array.from({ length: wide * high }, (_, n) => array.values[((n % wide) * high + Math.floor(n / wide)) * moments + moments - 1]) };
}

// -- what came of the training -----------------------------------------------------------------------------------

async function outcome() {
  const told = await ask("outcome");
  byId("outcome-errors").replaceChildren(el("header", {}, el("h2", {}, "Error on the test data")), ...verdictTable(told));
  byId("outcome").hidden = false;
  const show = async (place) => sample(told, await ask("sample", { place }));
  const words = told.record ? "stretch" : "test sample";
  const choose = told.places > 1 ? picker(words, told.places, show) : "";
  byId("outcome-curves").replaceChildren(el("header", {}, el("h2", {}, "Predicted and measured"), key("measured", "measured"), key(told.label.toLowerCase(), told.label), told.record || told.test["best linear model"] ? key("linear", "best linear model") : "", el("span", { class: "muted small" }), el("span", { class: "grow" }), choose), el("div"));
  await show(0);
  byId("outcome").scrollIntoView({ block: "start", behavior: "smooth" });
}

function sample(told, one) {
  const mark = told.label.toLowerCase();
  const panel = byId("outcome-curves");
  panel.querySelector("header > .muted").textContent = `relative L2 ${percent(one.l2)}, L∞ ${percent(one.linf)}`;
  const body = panel.lastElementChild;
  body.replaceChildren();
  byId("outcome-split").replaceChildren(el("header", {}, el("h2", {}, "Transient + steady"), key("transient", "transient"), key("steady", "steady"), el("span", { class: "muted small" },
    told.record ? "in a stitched record, transient is what is left of each window's own start from rest" : `of ${told.label}; the two add up to its prediction`)), ...caveat(told));
  if (one.axes && one.axes.length > 1) {
    drawFields(body, one.axes, [["measured", one.truth], [told.label, one.prediction], ["input", one.input]]);
    drawFields(byId("outcome-split"), one.axes, [["transient", one.transient], ["steady", one.steady]]);
  } else curves(told, one, body, mark);
  byId("outcome-poles").hidden = !one.poles;
  if (!one.poles) return;
  byId("outcome-poles").replaceChildren(el("header", {}, el("h2", {}, "Poles of the layers")), ...caveat(told));
  const plane = new SPlane(byId("outcome-poles"), 280);
  plane.set(one.poles, mark);
  byId("outcome-poles").append(el("p", { class: "muted small" }, "area: share of a pole in its layer"), poleTable(one.poles, plane));
}

const caveat = (told) => (told.caveat ? [el("p", { class: "note small" }, told.caveat)] : []);

function curves(told, one, body, mark) {
  const x = unpack(one.t).values;
  const arrays = Object.fromEntries(["truth", "prediction", "linear", "transient", "steady"].map((name) => [name, unpack(one[name])]));
  told.output.forEach(([name, unit], k) => {
    const get = (key) => channel(arrays[key], k).values;
    const xLabel = k === told.output.length - 1 ? "t [s]" : "";
    new LineChart(body, { height: 230, yLabel: axisLabel(name, unit), xLabel, title: name }).set(x, [
      { name: "measured", y: get("truth"), width: 3.2 }, { name: "linear", label: "best linear model", y: get("linear"), width: 1.1 },
      { name: mark, label: told.label, y: get("prediction"), width: 1.5 },
    ]);
    new LineChart(byId("outcome-split"), { height: 170, yLabel: axisLabel(name, unit), xLabel, title: `parts of ${name}` }).set(x, [
      { name: "steady", y: get("steady") }, { name: "transient", y: get("transient") },
    ]);
  });
}
