// The table of the variables of a file. The user chooses the role of each variable.

import { axisLabel, el, number } from "./tools.js";

const ROLES = { "": "not used", input: "input", output: "output", time: "time", sample: "run number" };
/** Whether the input is periodic: value of the option → its label. The value "given" stands for a period that the user states. */
const PERIODS = { "": "found automatically", no: "not periodic", given: "given in the unit of the time" };
const MOST_ROWS = 60; // largest number of rows of the table; the user finds other variables by their names

export class VariableTable {
  /** found: the description of the file; apply(options) reads the file with these roles; refuse(words) shows what is missing. */
  constructor(found, apply, refuse) {
    Object.assign(this, { variables: found.variables, apply, refuse, roles: new Map() });
    for (const role of ["input", "output", "time", "sample"]) {
      for (const name of String(found.reading[role] ?? "").split(",")) if (name) this.roles.set(name.trim(), role);
    }
    this.search = el("input", { type: "search", placeholder: "find a variable", "aria-label": "find a variable", oninput: () => this.fill() });
    this.count = el("span", { class: "muted small" });
    this.body = el("tbody");
    const heads = ["name", "role", "shape", "range"].map((text) => el("th", { scope: "col", class: text }, text));
    this.dt = el("input", { type: "text", inputmode: "decimal", value: found.reading.dt ?? "", placeholder: "only if there is no time", autocomplete: "off" });
    this.axes = el("input", { type: "text", value: found.reading.axes ?? "", placeholder: "for arrays: sample,t", autocomplete: "off" });
    const period = String(found.reading.periodic ?? "");
    this.period = el("select", { "aria-label": "Period of the input" }, ...Object.entries(PERIODS).map(([value, label]) => el("option", { value, selected: value === (period && period !== "no" ? "given" : period) }, label)));
    this.seconds = el("input", { type: "text", inputmode: "decimal", value: period === "no" ? "" : period, placeholder: "period", "aria-label": "period of the input in the unit of the time", autocomplete: "off" });
    this.period.addEventListener("change", () => {
      this.seconds.hidden = this.period.value !== "given";
      if (this.seconds.hidden) this.send();
      else this.seconds.focus();
    });
    this.seconds.hidden = this.period.value !== "given";
    this.resample = el("input", { type: "checkbox", checked: found.reading.resample === true });
    this.node = el("div", { class: "variables", onkeydown: (event) => event.key === "Enter" && event.target.tagName === "INPUT" && this.send() },
      found.variables.length > 12 ? el("div", { class: "finder" }, this.search, this.count) : "",
      el("div", { class: "scroll tall" }, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), this.body)),
      el("div", { class: "form" }, el("label", {}, "Time step [s]", this.dt), el("label", {}, "Axes of the arrays", this.axes),
        el("div", { class: "period" }, el("label", {}, "Period of the input", this.period), this.seconds),
        el("label", { class: "switch" }, this.resample, "Resample to even time steps"), el("button", { type: "button", class: "button", "data-do": "read", onclick: () => this.send() }, "Read again")));
    this.fill();
  }

  /** Show the rows whose names match the search, rows with a role first. */
  fill() {
    const wanted = this.search.value.trim().toLowerCase();
    const matching = this.variables.filter((one) => one.name.toLowerCase().includes(wanted));
    const ordered = wanted ? matching : [...matching.filter((one) => this.roles.has(one.name)), ...matching.filter((one) => !this.roles.has(one.name))];
    const rows = ordered.length > MOST_ROWS ? ordered.slice(0, MOST_ROWS) : wanted ? matching : this.variables;
    this.count.textContent = rows.length < this.variables.length ? `${rows.length} of ${this.variables.length} variables` : `${this.variables.length} variables`;
    this.body.replaceChildren(...rows.map((one) => this.row(one)));
  }

  row(one) {
    const role = el("select", { "aria-label": `role of ${one.name}`, "data-variable": one.name }, ...Object.entries(ROLES).map(([value, label]) => el("option", { value, selected: (this.roles.get(one.name) ?? "") === value }, label)));
    role.addEventListener("change", () => {
      if (role.value) this.roles.set(one.name, role.value);
      else this.roles.delete(one.name);
      this.send();
    });
    return el("tr", {}, el("td", { class: "wrap" }, axisLabel(one.name, one.unit)), el("td", {}, role), el("td", { class: "shape" }, one.shape.join(" × ")),
      el("td", {}, one.min === null ? one.dtype : `${number(one.min)} … ${number(one.max)}`, one.missing ? el("span", { class: "muted small block" }, `${one.missing} missing`) : ""));
  }

  send() {
    const period = this.period.value === "given" ? this.seconds.value.trim() : this.period.value;
    const options = { dt: this.dt.value.trim(), periodic: period, axes: this.axes.value.trim(), resample: this.resample.checked };
    for (const role of ["input", "output", "time", "sample"]) options[role] = this.variables.filter((one) => this.roles.get(one.name) === role).map((one) => one.name).join(",");
    const missing = ["input", "output"].filter((role) => !options[role]);
    if (missing.length) return this.refuse(`Choose at least one ${missing.join(" and one ")} in the table.`);
    this.apply(options);
  }
}
