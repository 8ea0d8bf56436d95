// Functions that all parts of the page use: make elements, ask the server, write numbers as text.

/** A new element with attributes and children. Children that are text are never read as HTML, so names from a file are safe. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "mark") node.style.setProperty("--mark", `var(--${value})`);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** An entry of a legend: a colour and a label. */
export const key = (mark, label) => el("span", { class: "key small" }, el("span", { class: "swatch", mark }), label);

/** Paragraphs with notes. pairs: [name of a model, note]. A note for several models is shown once, with all their names. */
export function notes(pairs, style) {
  const found = new Map();
  for (const [name, note] of pairs) if (note) found.set(note, [...(found.get(note) ?? []), name]);
  return [...found].map(([note, who]) => el("p", { class: `note small ${style}` }, el("b", {}, `${who.join(", ")}: `), note));
}

export const byId = (id) => document.getElementById(id);

/** Ask the server a question and return the answer. Throws an Error with the error message of the server. */
export async function ask(question, query = {}) {
  return answer(() => fetch(`/api/${question}`, { method: "POST", body: JSON.stringify(query) }));
}

export async function answer(request) {
  let response;
  try {
    response = await request();
  } catch {
    throw new Error("the server does not answer; is `lfno app` still running in its terminal?");
  }
  const tree = await response.json();
  if (tree.error) throw new Error(tree.error);
  return tree;
}

/** Show an error message at the bottom of the window; null removes the message. */
export function complain(error) {
  byId("alert").hidden = error === null;
  byId("alert").firstElementChild.textContent = error === null ? "" : error.message;
}

/** Return the result of action(). If it fails, show the error message and return null. */
export async function trying(action) {
  try {
    complain(null);
    return await action();
  } catch (error) {
    complain(error);
    return null;
  }
}

/** Let the browser save text or bytes as a file with this name. */
export function download(name, content, type = "text/csv") {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** The name of a file that is saved from `node`: the subject (system, file or model) that a parent of the node states, and a title. */
export const savedName = (node, title) => fileName([node.closest("[data-subject]")?.dataset.subject, title].filter(Boolean).join(" "));

export const fileName = (text) => text.replace(/[^a-z0-9]+/gi, "-").replace(/^-|-$/g, "").toLowerCase() || "plot";

/** A time in seconds as text. */
export function duration(seconds) {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(whole / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** An array {shape, values} from its packed form (floats in base 64). */
export function unpack({ shape, data, double }) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  return { shape, values: double ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer) };
}

/** The signal of one channel of an array (channels, *grid). */
export function channel(array, index) {
  const shape = array.shape.slice(1);
  const size = shape.reduce((a, b) => a * b, 1);
  return { shape, values: array.values.subarray(index * size, (index + 1) * size) };
}

export const points = (axis) => Float64Array.from({ length: axis.size }, (_, n) => axis.origin + n * axis.step);
export const axisLabel = (name, unit) => (unit ? `${name} [${unit}]` : name);
/** The unit of a label: "x [m]" → "m". */
export const unitOf = (label) => /\[([^\]]*)\]$/.exec(label)?.[1] ?? "";
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(Math.max(0, digits - 1)).replace(/\.?0*e\+?/, "e").replaceAll("-", "−");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

/** A share in per cent, without the sign %. The text is "< 0.001" for smaller shares, and "–" for an unknown share. */
export const hundredths = (value) => (value > 0 && value < 1e-5 ? "< 0.001" : number(value === null || value === undefined ? value : 100 * value));
export const percent = (value) => (value === null || value === undefined ? "–" : `${hundredths(value)} %`);

/** A time in milliseconds as text. */
export const took = (ms) => (ms < 1000 ? `${number(ms, 2)} ms` : `${number(ms / 1000, 2)} s`);

/** A count as short text: 172833 → 173k, 1210000 → 1.21M. */
export const compact = (value) => value.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 3 }).replace("K", "k");

/** A number with its noun: 1 window, 3 windows. */
export const count = (size, noun) => (size === 1 ? `1 ${noun}` : `${size} ${noun.endsWith("y") ? `${noun.slice(0, -1)}ie` : noun}s`);

/** A name with its digits below the line: w10 → w₁₀. */
export const lowered = (name) => name.replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]);

/** The unit of a frequency for a unit of time: Hz for s, 1/h for h. */
export const frequencyUnit = (unit) => (unit === "s" ? "Hz" : unit ? `1/${unit}` : "");
/** The unit of output / input: m/N. */
export const ratioUnit = (output, input) => (output === input ? "" : input ? `${output || "1"}/${/[/·]/.test(input) ? `(${input})` : input}` : output);

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** A function that runs `action` for the newest request only. Requests that come while `action` runs replace each other. */
export function latest(action) {
  let running = false;
  let waiting = null;
  return async function run(...given) {
    if (running) {
      waiting = given;
      return;
    }
    running = true;
    try {
      await action(...given);
    } finally {
      running = false;
      if (waiting !== null) {
        const next = waiting;
        waiting = null;
        run(...next);
      }
    }
  };
}

/** A number box that chooses one of `most` items. The user counts from 1, and choose(place) is called with a place from 0. */
export function picker(name, most, choose) {
  const input = el("input", { type: "number", min: 1, max: most, value: 1, "aria-label": name, class: "picker" });
  input.addEventListener("change", () => {
    const chosen = Math.min(most, Math.max(1, Math.round(input.valueAsNumber || 1)));
    input.value = chosen;
    trying(() => choose(chosen - 1));
  });
  return el("label", { class: "muted small" }, `${name} `, input, ` of ${most}`);
}
