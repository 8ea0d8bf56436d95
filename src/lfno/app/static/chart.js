// A chart of curves, drawn by uPlot. It zooms, pans, shows values at a cursor (pointer or keyboard), and saves PNG and CSV.

import uPlot from "./vendor/uPlot.esm.js";
import { savePicture, saveTable } from "./chartfiles.js";
import { ticks } from "./sheet.js";
import { colour, el, key, number, unitOf } from "./tools.js";

const charts = new Set();
const HELP = "arrow keys move the cursor, plus and minus zoom, page keys pan, 0 shows the whole axis";

/** The first digit of a number. */
const leading = (value) => Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9));

/** The ticks of a logarithmic axis: 1 to 9 times powers of ten. If the axis spans less than a factor of 3, the steps are equal.
 *  uPlot's own function never ends if the lower end of the axis is not a power of ten. */
function logTicks(u, axis, low, high) {
  if (high < 3 * low) return ticks(low, high, 4);
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    for (let digit = 1; digit <= 9; digit += 1) found.push(Number(`${digit}e${power}`));
  }
  return found.filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
}

/** The ticks with labels; null for a tick without label. Labels are at 1, 2 and 5 times powers of ten, or at powers of ten only if
 *  the axis is long. Ticks with equal steps all have labels. */
function logLabels(u, splits) {
  const [low, high] = [splits[0], splits.at(-1)];
  if (high < 3 * low) return splits;
  const wanted = high > 200 * low ? [1, 10] : [1, 2, 5, 10];
  return splits.map((value) => (wanted.includes(leading(value)) ? value : null));
}

const logarithmic = { splits: logTicks, filter: logLabels };

/** Draw all charts again, after a change between light and dark colours. */
export function rebuildAll() {
  for (const chart of charts) {
    if (chart.box.isConnected) chart.build();
    else charts.delete(chart);
  }
}

export class Chart {
  /** group: an array of charts that have a common cursor and zoom; log, logX: logarithmic vertical or horizontal axis; legend: show
   *  the names of the curves beside the title. */
  constructor(parent, { height = 220, title = "", xLabel = "", yLabel = "", log = false, logX = false, legend = false, group = [] } = {}) {
    Object.assign(this, { height, title, xLabel, yLabel, log, logX, legend, group, x: null, series: [], view: null, bands: [], least: null });
    group.push(this);
    charts.add(this);
    this.plot = el("div", { class: "plot" });
    this.plot.style.height = `${height}px`;
    this.readout = el("span", { class: "readout", "aria-live": "polite" });
    const button = (label, words, action) => el("button", { type: "button", class: "tool", title: words, "aria-label": `${title}: ${words}`, onclick: action }, label);
    this.tools = el("div", { class: "tools" }, this.readout,
      button("+", "zoom in", () => this.zoomBy(0.5)), button("−", "zoom out", () => this.zoomBy(2)), button("⤢", "show everything", () => this.zoom(null)),
      button("PNG", "save as a picture", () => savePicture(this)), button("CSV", "save the values", () => saveTable(this)));
    this.box = el("div", { class: "uchart", tabindex: "0", role: "group", "aria-label": `${title}; ${HELP}`, "data-title": title }, this.tools, this.plot);
    this.box.addEventListener("keydown", (event) => this.press(event));
    this.plot.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.plot.addEventListener("pointerdown", (event) => this.grab(event), { capture: true });
    parent.append(this.box);
    new ResizeObserver(() => this.resize()).observe(this.plot);
  }

  /** series: [{name, label, y, width, dash, points}], drawn in this order; `name` is a colour of style.css.
   *  least: [low, high] that the vertical axis always includes; most: [low, high] that it never exceeds; bands: [[from, to, label]]
   *  with a grey background. */
  set(x, series, { yLabel, xLabel, least = null, most = null, bands = [] } = {}) {
    if (yLabel !== undefined) this.yLabel = yLabel;
    if (xLabel !== undefined) this.xLabel = xLabel;
    Object.assign(this, { x, series: series.filter((one) => one.y), least, most, bands });
    const shape = JSON.stringify([this.yLabel, this.xLabel, this.series.map((one) => [one.name, one.label, one.width, one.dash, one.points])]);
    if (this.u && shape === this.shape) {
      this.u.setData(this.data());
      if (this.view) this.u.setScale("x", { min: this.view[0], max: this.view[1] });
    } else {
      this.shape = shape;
      this.build();
    }
    this.tell();
  }

  data() {
    const clean = (values) => Array.from(values, (value) => (Number.isFinite(value) && !(this.log && value <= 0) ? value : null));
    return [Array.from(this.x), ...this.series.map((one) => clean(one.y))];
  }

  /** Lines are not aligned to pixels: uPlot would move lines of different widths apart, and equal curves would look different. */
  build() {
    if (!this.x || !this.plot.clientWidth) return;
    this.u?.destroy();
    const muted = colour("muted");
    const axis = (label, extra) => ({ stroke: muted, grid: { stroke: colour("grid"), width: 1, ...(extra.filter ? { filter: extra.filter } : {}) }, ticks: { stroke: colour("grid"), size: 4, ...(extra.filter ? { filter: extra.filter } : {}) }, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", label, labelSize: 16, values: (_, splits) => splits.map((value) => (value === null ? "" : number(value, 4))), ...extra });
    this.u = new uPlot({
      width: this.plot.clientWidth, height: this.height, legend: { show: false }, padding: [8, 10, 0, 0],
      scales: { x: { time: false, distr: this.logX ? 3 : 1, range: (_, low, high) => [low, high] }, y: { distr: this.log ? 3 : 1, range: (_, low, high) => this.range(low, high) } },
      axes: [axis(this.xLabel, { size: this.xLabel ? 24 : 20, space: this.logX ? 34 : 60, ...(this.logX ? logarithmic : {}) }), axis(this.yLabel, { size: 58, space: this.log ? 16 : Math.max(16, Math.min(24, (this.height - 40) / 6)), ...(this.log ? logarithmic : {}) })],
      cursor: { points: { size: 7 }, drag: { x: true, y: false, setScale: false, dist: 6 }, focus: { prox: -1 } },
      series: [{}, ...this.series.map((one) => ({ label: one.label ?? one.name, stroke: colour(one.name), width: one.width ?? 1.6, dash: one.dash, spanGaps: false, pxAlign: 0, points: { show: one.points ?? false, size: 5 } }))],
      hooks: {
        setSelect: [(u) => this.selected(u)],
        setCursor: [(u) => this.moved(u)],
        drawAxes: [(u) => (this.box.dataset.ticks = String(u.axes[1]._values.filter(Boolean).length))],
        drawClear: [(u) => this.drawBands(u)],
        draw: [(u) => this.nameBands(u)],
        ready: [(u) => u.over.addEventListener("dblclick", () => this.zoom(null))],
      },
    }, this.data(), this.plot);
    if (this.view) this.u.setScale("x", { min: this.view[0], max: this.view[1] });
  }

  resize() {
    if (!this.plot.clientWidth) return;
    if (!this.u) this.build();
    else if (this.u.width !== this.plot.clientWidth) this.u.setSize({ width: this.plot.clientWidth, height: this.height });
  }

  range(low, high) {
    if (low === null || high === null) return this.log ? [1e-3, 1] : [0, 1];
    if (this.least) [low, high] = [Math.min(low, this.least[0]), Math.max(high, this.least[1])];
    if (this.most) [low, high] = [Math.max(low, this.most[0]), Math.min(high, this.most[1])];
    if (this.log) return [10 ** Math.floor(Math.log10(Math.max(low, high * 1e-6))), 10 ** Math.ceil(Math.log10(high) + 1e-9)];
    const room = 0.07 * (high - low) || 0.1 * Math.abs(high) || 1;
    return [low - room, high + room];
  }

  drawBands(u) {
    for (const [from, to, label] of this.bands) {
      const [left, right] = [from, to].map((value) => u.valToPos(value, "x", true));
      u.ctx.save();
      u.ctx.fillStyle = colour("band");
      u.ctx.fillRect(left, u.bbox.top, right - left, u.bbox.height);
      u.ctx.restore();
    }
  }

  /** The names of the bands, on top of the curves. */
  nameBands(u) {
    const ratio = window.devicePixelRatio || 1;
    for (const [from, , label] of this.bands) {
      const left = Math.max(u.valToPos(from, "x", true), u.bbox.left) + 4 * ratio;
      u.ctx.save();
      u.ctx.font = `${11.5 * ratio}px system-ui, sans-serif`;
      u.ctx.textBaseline = "top";
      u.ctx.textAlign = "left";
      u.ctx.globalAlpha = 0.88;
      u.ctx.fillStyle = colour("band");
      u.ctx.fillRect(left, u.bbox.top + 2 * ratio, u.ctx.measureText(label).width + 8 * ratio, 17 * ratio);
      u.ctx.globalAlpha = 1;
      u.ctx.fillStyle = colour("muted");
      u.ctx.fillText(label, left + 4 * ratio, u.bbox.top + 4 * ratio);
      u.ctx.restore();
    }
  }

  // -- zoom and pan ------------------------------------------------------------------------------------------------

  whole() {
    return [this.x[0], this.x[this.x.length - 1]];
  }

  /** Show the range [from, to] of the horizontal axis in all charts of the group; null for the whole axis. */
  zoom(view) {
    const [first, last] = this.whole();
    if (view) {
      view = [Math.max(first, view[0]), Math.min(last, view[1])];
      if (!(view[1] > view[0]) || (view[0] <= first && view[1] >= last)) view = null;
    }
    for (const chart of this.group) {
      if (!chart.u) continue;
      chart.view = view;
      const [min, max] = view ?? chart.whole();
      chart.u.setScale("x", { min, max });
      chart.tell();
    }
  }

  selected(u) {
    if (u.select.width < 6) return;
    const view = [u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")];
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.zoom(view);
  }

  /** Zoom by a factor about the cursor, or about the middle if there is no cursor. */
  zoomBy(factor) {
    const [from, to] = this.view ?? this.whole();
    const [low, high] = this.logX ? [Math.log(from), Math.log(to)] : [from, to];
    const at = this.u.cursor.idx === null || this.u.cursor.idx === undefined ? null : this.x[this.u.cursor.idx];
    const middle = at === null ? (low + high) / 2 : this.logX ? Math.log(at) : at;
    const view = [middle - (middle - low) * factor, middle + (high - middle) * factor];
    this.zoom(this.logX ? view.map(Math.exp) : view);
  }

  panBy(share) {
    if (!this.view) return;
    const [from, to] = this.view;
    const [first, last] = this.whole();
    const shift = Math.max(first - from, Math.min(last - to, share * (to - from)));
    this.zoom([from + shift, to + shift]);
  }

  /** The wheel zooms if this chart has the focus. Otherwise it scrolls the page. */
  wheel(event) {
    if (!this.box.contains(document.activeElement) && !event.ctrlKey) return;
    event.preventDefault();
    this.zoomBy(event.deltaY < 0 ? 0.8 : 1.25);
  }

  /** With the shift key or the middle button, the pointer moves the visible range. */
  grab(event) {
    this.box.focus({ preventScroll: true });
    if (!(event.shiftKey || event.button === 1) || !this.view) return;
    event.preventDefault();
    event.stopPropagation();
    let last = event.clientX;
    const width = this.u.over.clientWidth;
    const move = (moved) => {
      this.panBy((last - moved.clientX) / width);
      last = moved.clientX;
    };
    const end = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
  }

  // -- values ------------------------------------------------------------------------------------------------------

  moved(u) {
    if (this.quiet) return;
    const at = u.cursor.idx;
    for (const chart of this.group) {
      if (chart !== this && chart.u && chart.x.length === this.x.length) chart.point(at ?? null);
    }
    this.tell();
  }

  /** Put the cursor on the sample with index `at`, or remove the cursor if `at` is null. */
  point(at) {
    this.quiet = true;
    if (at === null) this.u.setCursor({ left: -10, top: -10 }, false);
    else this.u.setCursor({ left: this.u.valToPos(this.x[at], "x"), top: this.u.over.clientHeight / 2 }, false);
    this.at = at;
    this.quiet = false;
    this.tell();
  }

  tell() {
    if (!this.x) return;
    this.box.dataset.from = String((this.view ?? this.whole())[0]);
    this.box.dataset.to = String((this.view ?? this.whole())[1]);
    const at = this.u?.cursor.idx ?? this.at ?? null;
    if (at === null || at === undefined || at >= this.x.length) {
      this.readout.replaceChildren(el("b", {}, this.title), ...(this.legend ? this.series.map((one) => key(one.name, one.label)) : []),
        el("span", { class: "muted" }, this.view ? "shift and drag to pan, 0 for everything" : ""));
      return;
    }
    const [from, to] = this.view ?? this.whole();
    const left = this.x[at] - from > (to - from) / 2 ? "left" : ""; // the values stand beside the cursor, on the wider side
    const quantity = (value, unit) => (unit ? `${value} ${unit}` : value);
    const values = this.series.map((one) => el("span", { class: "value" }, el("span", { class: "swatch", mark: one.name }), one.label ?? one.name, el("b", {}, quantity(number(one.y[at], 4), unitOf(this.yLabel)))));
    this.readout.replaceChildren(el("b", {}, this.title), el("span", { class: "muted" }, `${this.across.split(" [")[0]} = ${quantity(number(this.x[at], 5), unitOf(this.across))}`), el("span", { class: `values ${left}` }, ...values));
  }

  /** The label of the horizontal axis. In a group, only the last chart draws it. */
  get across() {
    return this.xLabel || this.group.at(-1).xLabel || "x";
  }

  press(event) {
    if (event.target !== this.box || !this.u || event.altKey || event.metaKey || event.ctrlKey) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1 };
    const [from, to] = this.view ?? this.whole();
    const inside = this.x.length * ((to - from) / (this.whole()[1] - this.whole()[0]));
    if (event.key in steps) this.step(steps[event.key] * (event.shiftKey ? Math.max(1, Math.round(inside / 20)) : 1), from, to);
    else if (event.key === "+" || event.key === "=") this.zoomBy(0.5);
    else if (event.key === "-") this.zoomBy(2);
    else if (event.key === "0" || event.key === "Escape") this.zoom(null);
    else if (event.key === "PageUp") this.panBy(-0.5);
    else if (event.key === "PageDown") this.panBy(0.5);
    else return;
    event.preventDefault();
  }

  /** Move the cursor by `count` samples. The first time, put it in the middle. If it leaves the visible range, move the range. */
  step(count, from, to) {
    let at = this.u.cursor.idx ?? this.at ?? null;
    if (at === null) at = this.x.findIndex((value) => value >= (from + to) / 2);
    else at = Math.max(0, Math.min(this.x.length - 1, at + count));
    if (this.view && (this.x[at] < from || this.x[at] > to)) this.panBy(this.x[at] < from ? -0.5 : 0.5);
    for (const chart of this.group) if (chart.u && chart.x.length === this.x.length) chart.point(at);
  }
}
