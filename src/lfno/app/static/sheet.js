// A canvas for maps, the s-plane and drawings, with the resolution of the screen.

import { colour, download, el, savedName } from "./tools.js";

const sheets = new Set();
const FINE = 3; // pixels of a saved picture for each CSS pixel
const TITLE = 26; // CSS pixels; height of the title of a saved picture

/** Draw all sheets again, after a change between light and dark colours. */
export function redrawAll() {
  for (const sheet of sheets) {
    if (sheet.box.isConnected) sheet.draw();
    else sheets.delete(sheet);
  }
}

/** A canvas that is drawn again whenever its size or the colours change. Subclasses have a method draw(). */
export class Sheet {
  constructor(parent, height) {
    this.height = height;
    this.canvas = el("canvas", { role: "img", tabindex: "0" });
    this.tip = el("div", { class: "tip", hidden: true });
    this.box = el("div", { class: "chart" }, this.canvas, this.tip);
    parent.append(this.box);
    sheets.add(this);
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  /** Clear the canvas and return its context, width and height in CSS pixels; null if the canvas is not visible. */
  begin() {
    const width = this.box.clientWidth;
    const height = typeof this.height === "function" ? this.height(width) : this.height;
    if (!width) return null;
    const ratio = this.ratio ?? (window.devicePixelRatio || 1);
    const wide = Math.round(width * ratio);
    const high = Math.round(height * ratio);
    if (this.canvas.width !== wide || this.canvas.height !== high) Object.assign(this.canvas, { width: wide, height: high });
    this.canvas.style.height = `${height}px`;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "11.5px system-ui, 'DejaVu Sans', sans-serif";
    return { pen, width, height };
  }

  /** Add buttons that save the picture and the values. values() returns rows of cells. */
  savers(name, values, more = []) {
    const button = (label, words, action) => el("button", { type: "button", class: "tool", title: words, "aria-label": `${name()}: ${words}`, onclick: action }, label);
    this.box.append(el("div", { class: "tools" }, el("span", { class: "readout" }), ...more.map(([label, words, action]) => button(label, words, action)),
      button("PNG", "save as a picture", () => this.picture(name()).toBlob((blob) => download(`${savedName(this.box, name())}.png`, blob))),
      button("CSV", "save the values", () => download(`${savedName(this.box, name())}.csv`, values().map((row) => row.join(",")).join("\n") + "\n"))));
  }

  /** The sheet as a picture with a title, on an opaque background. `foot` CSS pixels below the sheet are for drawFoot(). */
  picture(title, foot = 0) {
    const shown = this.canvas;
    Object.assign(this, { canvas: el("canvas"), ratio: FINE });
    this.draw();
    const drawn = this.canvas;
    Object.assign(this, { canvas: shown, ratio: null });
    const subject = this.box.closest("[data-subject]")?.dataset.subject;
    const made = el("canvas", { width: drawn.width, height: drawn.height + (TITLE + foot) * FINE });
    const pen = made.getContext("2d");
    pen.fillStyle = colour("panel");
    pen.fillRect(0, 0, made.width, made.height);
    pen.drawImage(drawn, 0, TITLE * FINE);
    pen.scale(FINE, FINE);
    pen.fillStyle = colour("text");
    pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    pen.fillText(subject ? `${subject}: ${title}` : title, 4, 17, made.width / FINE - 8);
    pen.translate(0, TITLE + drawn.height / FINE);
    this.drawFoot?.(pen, made.width / FINE);
    return made;
  }

  /** Show a tooltip beside the point (x, y), inside the sheet. */
  say(x, y, rows) {
    this.tip.replaceChildren(...rows);
    this.tip.hidden = false;
    const left = x + 16 + this.tip.offsetWidth > this.box.clientWidth ? x - 14 - this.tip.offsetWidth : x + 14;
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${Math.max(0, Math.min(y, this.box.clientHeight - this.tip.offsetHeight))}px`;
  }
}

/** About `count` round values between low and high. */
export function ticks(low, high, count = 5) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(span / count));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => span / s <= count) ?? 10 * power;
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * span; n += 1) found.push(n === 0 ? 0 : n * step);
  return found;
}

export const row = (mark, label, value) =>
  el("div", {}, el("span", { class: "swatch", mark }), label, el("b", {}, value));

export function line(pen, x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}
