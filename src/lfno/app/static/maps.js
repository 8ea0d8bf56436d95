// A map: a field as colours, with zoom, values under the pointer, and a dashed line where a chart cuts the field. Also the colour
// bar of maps.

import { Sheet } from "./sheet.js";
import { axisLabel, colour, el, number } from "./tools.js";

/** The limits [low, high] of a colour scale. If the values have both signs, the limits are symmetric, so that zero has the middle
 *  colour. */
export function colourRange(fields) {
  let [low, high] = [Infinity, -Infinity];
  for (const { values } of fields) for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low <= 0 && high >= 0) {
    high = Math.max(-low, high) || 1;
    low = -high;
  }
  return [low, high > low ? high : low + 1];
}

/** 256 colours. kind "signed": from negative over zero to positive values; kind "magnitude": from zero to positive values. */
function palette(kind) {
  const stop = (name) => colour(name).split(",").map(Number);
  const [low, middle, high] = ["map-low", "map-mid", "map-high"].map(stop);
  const mix = (a, b, share) => a.map((value, k) => value + (b[k] - value) * share);
  return Array.from({ length: 256 }, (_, n) => {
    const place = n / 255;
    if (kind === "magnitude") return mix(middle, high, place ** 0.7);
    return place < 0.5 ? mix(low, middle, (2 * place) ** 1.4) : mix(high, middle, (2 - 2 * place) ** 1.4);
  });
}

/** A view that maps share, so that they zoom together. part: visible part of each axis; at: its middle, {row, column} or null. */
export const sharedView = () => ({ part: 1, at: null, maps: new Set() });

export class FieldMap extends Sheet {
  /** pick(row, column) is called when the user clicks on the map; ratio: height / width of the map; view: from sharedView(). */
  constructor(parent, pick, ratio = 0.8, view = sharedView()) {
    super(parent, (width) => Math.round(width * ratio));
    Object.assign(this, { field: null, view });
    view.maps.add(this);
    this.canvas.addEventListener("click", (event) => {
      const at = this.where(event);
      if (!at) return;
      this.view.at = at;
      pick(at.row, at.column);
    });
    this.canvas.addEventListener("dblclick", () => this.zoom(Infinity));
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.canvas.addEventListener("keydown", (event) => this.key(event, pick));
    this.canvas.addEventListener("blur", () => (this.tip.hidden = true));
    this.savers(() => this.label ?? "map", () => this.table(), [
      ["+", "zoom in", () => this.zoom(0.5)], ["−", "zoom out", () => this.zoom(2)], ["⤢", "show everything", () => this.zoom(Infinity)]]);
  }

  /** Zoom all maps of the view by a factor, about the place of the last click or key. */
  zoom(factor) {
    this.view.part = Math.min(1, Math.max(1 / 16, this.view.part * factor));
    for (const map of this.view.maps) {
      if (map.box.isConnected) map.draw();
      else this.view.maps.delete(map);
    }
  }

  /** The visible part of the field: first row, first column, number of rows and of columns. */
  window() {
    const [high, wide] = this.field.shape;
    const [rows, columns] = [high, wide].map((size) => Math.max(2, Math.round(size * this.view.part)));
    const at = this.view.at ?? { row: high / 2, column: wide / 2 };
    const first = (place, count, size) => Math.max(0, Math.min(size - count, Math.round(place - count / 2)));
    return { row: first(at.row, rows, high), column: first(at.column, columns, wide), rows, columns };
  }

  key(event, pick) {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 0], ArrowDown: [-1, 0] }[event.key];
    if (event.key === "+" || event.key === "=") this.zoom(0.5);
    else if (event.key === "-") this.zoom(2);
    else if (event.key === "0") this.zoom(Infinity);
    else if (move && this.field) {
      const [high, wide] = this.field.shape;
      const at = this.view.at ?? { row: Math.floor(high / 2), column: Math.floor(wide / 2) };
      const step = event.shiftKey ? 10 : 1;
      this.view.at = { row: Math.max(0, Math.min(high - 1, at.row + step * move[0])), column: Math.max(0, Math.min(wide - 1, at.column + step * move[1])) };
      pick(this.view.at.row, this.view.at.column);
      this.zoom(1);
      this.tell(this.view.at, this.frame.left + 8, this.frame.top + 8);
    } else return;
    event.preventDefault();
  }

  table() {
    const points = (axis) => Array.from({ length: axis.size }, (_, n) => axis.origin + n * axis.step);
    const wide = this.field.shape[1];
    const heads = [`${this.rows.name} / ${this.columns.name}`, ...points(this.columns)];
    return [heads, ...points(this.rows).map((place, r) => [place, ...this.field.values.slice(r * wide, (r + 1) * wide)])];
  }

  /** field: {shape: [rows, columns], values}; rows, columns: the axes; range, kind: the colour scale; cut: {row}, {column} or null;
   *  label: the name of the map; quantity: the label of the colours, with the unit. */
  set(field, rows, columns, range, kind, cut, label, quantity = "") {
    Object.assign(this, { field, rows, columns, range, kind, cut, label, quantity });
    this.canvas.setAttribute("aria-label", `${label}: map over ${columns.name} and ${rows.name}, from ${number(range[0])} to ${number(range[1])}`);
    this.draw();
  }

  picture(title) {
    return super.picture(title, 36);
  }

  drawFoot(pen, width) {
    pen.translate(4, 4);
    drawBar(pen, width - 8, this.range, this.kind, this.quantity);
  }

  draw() {
    if (!this.field) return;
    const sheet = this.begin();
    if (!sheet) return;
    const { pen, width, height } = sheet;
    const frame = { left: 36, top: 5, width: width - 38, height: height - 21 };
    this.frame = frame;
    const [high, wide] = this.field.shape;
    const image = new ImageData(wide, high);
    const colours = palette(this.kind);
    const [low, top] = this.range;
    for (let r = 0; r < high; r += 1) for (let c = 0; c < wide; c += 1) {
      const share = (this.field.values[r * wide + c] - low) / (top - low);
      const tint = colours[Math.max(0, Math.min(255, Math.round(share * 255)))] ?? [128, 128, 128];
      image.data.set([...tint, 255], 4 * ((high - 1 - r) * wide + c));
    }
    const small = new OffscreenCanvas(wide, high);
    small.getContext("2d").putImageData(image, 0, 0);
    pen.imageSmoothingEnabled = false;
    const shown = this.window();
    pen.drawImage(small, shown.column, high - shown.row - shown.rows, shown.columns, shown.rows, frame.left, frame.top, frame.width, frame.height);
    pen.strokeStyle = colour("line");
    pen.strokeRect(frame.left + 0.5, frame.top + 0.5, frame.width - 1, frame.height - 1);
    this.labels(pen, frame);
    this.drawCut(pen, frame);
  }

  labels(pen, frame) {
    const shown = this.window();
    const at = (axis, n) => number(axis.origin + n * axis.step);
    pen.fillStyle = colour("muted");
    pen.font = "10.5px system-ui, 'DejaVu Sans', sans-serif";
    pen.textBaseline = "top";
    const below = frame.top + frame.height + 4;
    pen.textAlign = "left";
    pen.fillText(at(this.columns, shown.column), frame.left, below);
    pen.textAlign = "right";
    pen.fillText(at(this.columns, shown.column + shown.columns - 1), frame.left + frame.width, below);
    pen.textBaseline = "middle";
    pen.fillText(at(this.rows, shown.row + shown.rows - 1), frame.left - 4, frame.top + 3);
    pen.fillText(at(this.rows, shown.row), frame.left - 4, frame.top + frame.height - 3);
    pen.textAlign = "center";
    pen.save();
    pen.translate(frame.left - 14, frame.top + frame.height / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(axisLabel(this.rows.name, this.rows.unit), 0, 0);
    pen.restore();
    pen.textBaseline = "top";
    pen.fillText(axisLabel(this.columns.name, this.columns.unit), frame.left + frame.width / 2, below);
  }

  drawCut(pen, frame) {
    if (!this.cut) return;
    const shown = this.window();
    pen.strokeStyle = colour("text");
    pen.lineWidth = 1.2;
    pen.setLineDash([4, 3]);
    pen.beginPath();
    if (this.cut.column !== undefined) {
      const x = frame.left + ((this.cut.column - shown.column + 0.5) / shown.columns) * frame.width;
      pen.moveTo(x, frame.top);
      pen.lineTo(x, frame.top + frame.height);
    } else {
      const y = frame.top + (1 - (this.cut.row - shown.row + 0.5) / shown.rows) * frame.height;
      pen.moveTo(frame.left, y);
      pen.lineTo(frame.left + frame.width, y);
    }
    pen.stroke();
    pen.setLineDash([]);
    pen.lineWidth = 1;
  }

  where(event) {
    if (!this.field || !this.frame) return null;
    const box = this.canvas.getBoundingClientRect();
    const shown = this.window();
    const across = (event.clientX - box.left - this.frame.left) / this.frame.width;
    const up = 1 - (event.clientY - box.top - this.frame.top) / this.frame.height;
    if (across < 0 || across >= 1 || up <= 0 || up > 1) return null;
    return { row: shown.row + Math.min(shown.rows - 1, Math.floor(up * shown.rows)), column: shown.column + Math.floor(across * shown.columns) };
  }

  hover(event) {
    const at = this.where(event);
    if (!at) return (this.tip.hidden = true);
    const box = this.canvas.getBoundingClientRect();
    return this.tell(at, event.clientX - box.left, event.clientY - box.top);
  }

  tell(at, x, y) {
    const place = (axis, n) => `${axis.name} = ${number(axis.origin + n * axis.step, 4)}`;
    const value = this.field.values[at.row * this.field.shape[1] + at.column];
    this.say(x, y, [
      el("div", { class: "muted" }, `${place(this.rows, at.row)}, ${place(this.columns, at.column)}`),
      el("div", {}, number(value, 5)),
    ]);
  }

}

/** Draw the colours of a scale with its limits and a label. */
function drawBar(pen, width, range, kind, label) {
  const colours = palette(kind);
  for (let x = 0; x < width; x += 1) {
    pen.fillStyle = `rgb(${colours[Math.floor((x / width) * 255)].map(Math.round).join(",")})`;
    pen.fillRect(x, 0, Math.min(1.5, width - x), 9);
  }
  pen.strokeStyle = colour("line");
  pen.strokeRect(0.5, 0.5, width - 1, 8);
  pen.fillStyle = colour("muted");
  pen.font = "11.5px system-ui, 'DejaVu Sans', sans-serif";
  pen.textBaseline = "top";
  pen.textAlign = "left";
  pen.fillText(number(range[0]), 0, 13);
  pen.textAlign = "right";
  pen.fillText(number(range[1]), width, 13);
  pen.textAlign = "center";
  pen.fillText(label, width / 2, 13);
}

/** A colour bar: the colours of maps with their numbers. */
export class ColourBar extends Sheet {
  constructor(parent) {
    super(parent, 28);
    this.canvas.removeAttribute("tabindex"); // the label has the numbers, so the keyboard need not stop here
  }

  set(range, kind, label) {
    Object.assign(this, { range, kind, label });
    this.canvas.setAttribute("aria-label", `colours of ${label}: ${number(range[0])} to ${number(range[1])}`);
    this.draw();
  }

  draw() {
    if (!this.range) return;
    const sheet = this.begin();
    if (!sheet) return;
    drawBar(sheet.pen, sheet.width, this.range, this.kind, this.label);
  }
}
