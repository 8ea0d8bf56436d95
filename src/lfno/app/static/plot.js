// Line charts on a canvas: as sharp as the screen, with a crosshair that charts over the same axis share.

import { colour, el, number } from "./tools.js";

export const charts = new Set();
export const redrawAll = () => charts.forEach((chart) => chart.draw());

/** A canvas in its parent, redrawn whenever its size or the colours change. */
export class Sheet {
  constructor(parent, height) {
    this.height = height;
    this.canvas = el("canvas", { role: "img" });
    this.tip = el("div", { class: "tip", hidden: true });
    this.box = el("div", { class: "chart" }, this.canvas, this.tip);
    parent.append(this.box);
    charts.add(this);
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  /** A context in CSS pixels, cleared. */
  begin() {
    const width = this.box.clientWidth;
    const height = typeof this.height === "function" ? this.height(width) : this.height;
    if (!width) return null;
    const ratio = window.devicePixelRatio || 1;
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

  /** Show what is under the pointer beside it, inside the sheet. */
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

export class LineChart extends Sheet {
  /** y: "linear" or "log"; group: charts that share the crosshair; x is labelled only where `xLabel` is given; whole: x counts. */
  constructor(parent, { height, yLabel = "", xLabel = "", y = "linear", group = null, title = "", whole = false }) {
    super(parent, height);
    Object.assign(this, { yLabel, xLabel, scale: y, group, title, whole, x: null, series: [], at: null, marks: [] });
    if (group) group.push(this);
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => this.leave());
  }

  /** series: [{name, label, y, width, dash}], drawn in this order; labels.least is a range that is shown in any case. */
  set(x, series, labels = {}) {
    Object.assign(this, labels, { x, series: series.filter((one) => one.y !== null) });
    const names = this.series.map((one) => one.label ?? one.name).join(", ");
    this.canvas.setAttribute("aria-label", `${this.title || this.yLabel}: ${names} over ${this.xLabel || "the same axis"}`);
    this.draw();
  }

  range() {
    let [low, high] = [Infinity, -Infinity];
    for (const { y } of this.series) for (const value of y) {
      if (!Number.isFinite(value) || (this.scale === "log" && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (this.least) [low, high] = [Math.min(low, this.least[0]), Math.max(high, this.least[1])];
    if (low > high) return this.scale === "log" ? [1e-4, 1] : [0, 1];
    if (this.scale === "log") return [10 ** Math.floor(Math.log10(Math.max(low, high * 1e-5))), 10 ** Math.ceil(Math.log10(high * 1.001))];
    const room = 0.06 * (high - low) || Math.abs(high) * 0.1 || 1;
    return [low - room, high + room];
  }

  draw() {
    if (!this.x) return;
    const sheet = this.begin();
    if (!sheet) return;
    const { pen, width, height } = sheet;
    const frame = { left: 64, right: width - 8, top: 6, bottom: height - (this.xLabel ? 34 : 8) };
    const [low, high] = this.range();
    const [first, last] = [this.x[0], this.x[this.x.length - 1]];
    const log = this.scale === "log";
    const [from, to] = log ? [Math.log10(low), Math.log10(high)] : [low, high];
    this.toX = (value) => frame.left + ((value - first) / (last - first || 1)) * (frame.right - frame.left);
    this.toY = (value) => {
      const place = log ? Math.log10(Math.max(value, low * 1e-3)) : value;
      return frame.bottom - ((place - from) / (to - from)) * (frame.bottom - frame.top);
    };
    this.frame = frame;
    this.axes(pen, frame, first, last, low, high, log);
    pen.save();
    pen.beginPath();
    pen.rect(frame.left, frame.top - 2, frame.right - frame.left, frame.bottom - frame.top + 4);
    pen.clip();
    for (const one of this.series) this.curve(pen, one);
    pen.restore();
    if (this.at !== null) this.crosshair(pen, frame);
  }

  axes(pen, frame, first, last, low, high, log) {
    pen.lineWidth = 1;
    pen.strokeStyle = colour("grid");
    pen.fillStyle = colour("muted");
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    const rows = Math.max(3, Math.round((frame.bottom - frame.top) / 46));
    const values = log ? decades(low, high, rows) : ticks(low, high, rows);
    for (const value of values) {
      const y = Math.round(this.toY(value)) + 0.5;
      line(pen, frame.left, y, frame.right, y);
      pen.fillText(log ? power(value) : number(value), frame.left - 7, y);
    }
    pen.textAlign = "center";
    pen.textBaseline = "top";
    const marks = ticks(first, last, Math.max(3, Math.round((frame.right - frame.left) / 90)));
    for (const value of marks.filter((mark) => !this.whole || Number.isInteger(mark))) {
      const x = Math.round(this.toX(value)) + 0.5;
      line(pen, x, frame.top, x, frame.bottom);
      if (this.xLabel) pen.fillText(number(value, 4), x, frame.bottom + 5);
    }
    if (this.xLabel) pen.fillText(this.xLabel, (frame.left + frame.right) / 2, frame.bottom + 20);
    pen.save();
    pen.translate(11, (frame.top + frame.bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.textBaseline = "middle";
    pen.fillText(this.yLabel, 0, 0);
    pen.restore();
  }

  /** One curve; where many points share a pixel their extremes are drawn, so that nothing is lost. */
  curve(pen, { name, y, width = 1.6, dash = [] }) {
    pen.strokeStyle = colour(name);
    pen.lineWidth = width;
    pen.lineJoin = "round";
    pen.setLineDash(dash);
    pen.beginPath();
    const crowded = y.length > 3 * (this.frame.right - this.frame.left);
    let [column, low, high, open] = [null, 0, 0, false];
    for (let n = 0; n < y.length; n += 1) {
      const x = this.toX(this.x[n]);
      const place = this.toY(y[n]);
      if (!Number.isFinite(place)) {
        open = false;
        continue;
      }
      if (crowded) {
        const here = Math.round(x);
        if (here === column) {
          low = Math.min(low, place);
          high = Math.max(high, place);
          continue;
        }
        if (column !== null) {
          pen.lineTo(column, low);
          pen.lineTo(column, high);
        }
        [column, low, high] = [here, place, place];
      } else if (open) pen.lineTo(x, place);
      else pen.moveTo(x, place);
      open = true;
    }
    pen.stroke();
    pen.setLineDash([]);
  }

  crosshair(pen, frame) {
    const x = this.toX(this.x[this.at]);
    pen.strokeStyle = colour("muted");
    pen.lineWidth = 1;
    line(pen, Math.round(x) + 0.5, frame.top, Math.round(x) + 0.5, frame.bottom);
    for (const { name, y } of this.series) {
      const place = this.toY(y[this.at]);
      if (!Number.isFinite(place)) continue;
      pen.beginPath();
      pen.arc(x, Math.min(Math.max(place, frame.top), frame.bottom), 3.2, 0, 7);
      pen.fillStyle = colour(name);
      pen.fill();
    }
  }

  hover(event) {
    if (!this.x || !this.frame) return;
    const box = this.canvas.getBoundingClientRect();
    const share = (event.clientX - box.left - this.frame.left) / (this.frame.right - this.frame.left);
    if (share < -0.02 || share > 1.02) return this.leave();
    const at = Math.round(Math.min(Math.max(share, 0), 1) * (this.x.length - 1));
    for (const chart of this.group ?? [this]) {
      chart.at = chart.x && chart.x.length === this.x.length ? at : null;
      chart.draw();
    }
    const name = (this.xLabel || this.group?.at(-1)?.xLabel || "").split(" [")[0];
    const rows = this.series.map((one) => row(one.name, one.label ?? one.name, number(one.y[at], 4)));
    this.say(this.toX(this.x[at]), event.clientY - box.top, [el("div", { class: "muted" }, `${name} = ${number(this.x[at], 5)}`), ...rows]);
  }

  leave() {
    this.tip.hidden = true;
    for (const chart of this.group ?? [this]) {
      chart.at = null;
      chart.draw();
    }
  }
}

export const row = (mark, label, value) =>
  el("div", {}, el("span", { class: "swatch", mark }), label, el("b", {}, value));

export function line(pen, x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

function decades(low, high, count) {
  const [from, to] = [Math.round(Math.log10(low)), Math.round(Math.log10(high))];
  const stride = Math.max(1, Math.ceil((to - from) / Math.max(count, 2)));
  return Array.from({ length: Math.floor((to - from) / stride) + 1 }, (_, n) => 10 ** (from + n * stride));
}

const SUPER = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
function power(value) {
  const exponent = Math.round(Math.log10(value));
  if (exponent >= -2 && exponent <= 2) return number(value);
  return `10${[...String(exponent)].map((letter) => SUPER[letter]).join("")}`;
}
