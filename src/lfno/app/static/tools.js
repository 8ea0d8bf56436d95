// What every part of the page uses: elements, questions to the program, numbers as words.

/** An element with attributes and children; text is only ever text, whatever a file calls its columns. */
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

/** A line of a legend. */
export const key = (mark, label) => el("span", { class: "key small" }, el("span", { class: "swatch", mark }), label);

export const byId = (id) => document.getElementById(id);

/** The answer to a question, or an Error that carries the program's own sentence. */
export async function ask(question, query = {}) {
  return answer(() => fetch(`/api/${question}`, { method: "POST", body: JSON.stringify(query) }));
}

export async function answer(request) {
  let response;
  try {
    response = await request();
  } catch {
    throw new Error("the program does not answer; is `lfno app` still running in its terminal?");
  }
  const tree = await response.json();
  if (tree.error) throw new Error(tree.error);
  return tree;
}

export function complain(error) {
  byId("alert").hidden = error === null;
  byId("alert").firstElementChild.textContent = error === null ? "" : error.message;
  if (error !== null && !(error instanceof Error)) throw error;
}

/** An array of 32-bit floats from its base 64 form, with its shape. */
export function unpack({ shape, data }) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  return { shape, values: new Float32Array(bytes.buffer) };
}

/** The signal of one channel of an array (channels, *grid). */
export function channel(array, index) {
  const shape = array.shape.slice(1);
  const size = shape.reduce((a, b) => a * b, 1);
  return { shape, values: array.values.subarray(index * size, (index + 1) * size) };
}

export const points = (axis) => Float64Array.from({ length: axis.size }, (_, n) => axis.origin + n * axis.step);
export const axisLabel = (name, unit) => (unit ? `${name} [${unit}]` : name);
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(Math.max(0, digits - 1)).replace(/\.?0*e\+?/, "e").replaceAll("-", "−");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

export const percent = (value) => (value === null || value === undefined ? "–" : `${number(100 * value)} %`);

/** Run `action` for the newest request only; while one is under way the ones between are skipped. */
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
