// Fields as colours: one map for each model on one scale, and the cut through all of them.

import { charts, Sheet } from "./plot.js";
import { colour, el, number } from "./tools.js";

/** Both signs: symmetric, so that the middle colour is zero; one sign: from the lowest to the highest value. */
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

/** 256 colours from low over middle to high, or for magnitudes from the middle up. */
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

export class FieldMap extends Sheet {
  /** rows, columns: axes of the map; `pick(row, column)` is told where it was clicked. */
  constructor(parent, pick, ratio = 0.8) {
    super(parent, (width) => Math.round(width * ratio));
    this.field = null;
    this.canvas.addEventListener("click", (event) => {
      const at = this.where(event);
      if (at) pick(at.row, at.column);
    });
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
  }

  /** field: {shape: [rows, columns], values}; cut: {row} or {column}. */
  set(field, rows, columns, range, kind, cut, label) {
    Object.assign(this, { field, rows, columns, range, kind, cut });
    this.canvas.setAttribute("aria-label", `${label}: map over ${columns.name} and ${rows.name}, from ${number(range[0])} to ${number(range[1])}`);
    this.draw();
  }

  draw() {
    if (!this.field) return;
    const sheet = this.begin();
    if (!sheet) return;
    const { pen, width, height } = sheet;
    const frame = { left: 15, top: 1, width: width - 16, height: height - 17 };
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
    pen.drawImage(small, frame.left, frame.top, frame.width, frame.height);
    pen.strokeStyle = colour("line");
    pen.strokeRect(frame.left + 0.5, frame.top + 0.5, frame.width - 1, frame.height - 1);
    this.labels(pen, frame);
    this.drawCut(pen, frame, high, wide);
  }

  labels(pen, frame) {
    const end = (axis) => number(axis.origin + (axis.size - 1) * axis.step);
    pen.fillStyle = colour("muted");
    pen.font = "10.5px system-ui, 'DejaVu Sans', sans-serif";
    pen.textBaseline = "top";
    const below = frame.top + frame.height + 4;
    pen.textAlign = "left";
    pen.fillText(number(this.columns.origin), frame.left, below);
    pen.textAlign = "right";
    pen.fillText(end(this.columns), frame.left + frame.width, below);
    pen.textAlign = "center";
    pen.fillText(`${this.columns.name} →`, frame.left + frame.width / 2, below);
    pen.save();
    pen.translate(5, frame.top + frame.height / 2);
    pen.rotate(-Math.PI / 2);
    pen.textBaseline = "middle";
    pen.fillText(`${this.rows.name} →`, 0, 0);
    pen.restore();
  }

  drawCut(pen, frame, high, wide) {
    if (!this.cut) return;
    pen.strokeStyle = colour("text");
    pen.lineWidth = 1.2;
    pen.setLineDash([4, 3]);
    pen.beginPath();
    if (this.cut.column !== undefined) {
      const x = frame.left + ((this.cut.column + 0.5) / wide) * frame.width;
      pen.moveTo(x, frame.top);
      pen.lineTo(x, frame.top + frame.height);
    } else {
      const y = frame.top + (1 - (this.cut.row + 0.5) / high) * frame.height;
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
    const [high, wide] = this.field.shape;
    const column = Math.floor(((event.clientX - box.left - this.frame.left) / this.frame.width) * wide);
    const row = high - 1 - Math.floor(((event.clientY - box.top - this.frame.top) / this.frame.height) * high);
    return column < 0 || row < 0 || column >= wide || row >= high ? null : { row, column };
  }

  hover(event) {
    const at = this.where(event);
    if (!at) return (this.tip.hidden = true);
    const place = (axis, n) => `${axis.name} = ${number(axis.origin + n * axis.step, 4)}`;
    const box = this.canvas.getBoundingClientRect();
    const value = this.field.values[at.row * this.field.shape[1] + at.column];
    this.say(event.clientX - box.left, event.clientY - box.top, [
      el("div", { class: "muted" }, `${place(this.rows, at.row)}, ${place(this.columns, at.column)}`),
      el("div", {}, number(value, 5)),
    ]);
  }

  remove() {
    charts.delete(this);
    this.box.remove();
  }
}

/** The scale of a row of maps: colours with their numbers. */
export class ColourBar extends Sheet {
  constructor(parent) {
    super(parent, 28);
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
    const { pen, width } = sheet;
    const colours = palette(this.kind);
    for (let x = 0; x < width; x += 1) {
      pen.fillStyle = `rgb(${colours[Math.floor((x / width) * 255)].map(Math.round).join(",")})`;
      pen.fillRect(x, 0, 1.5, 9);
    }
    pen.strokeStyle = colour("line");
    pen.strokeRect(0.5, 0.5, width - 1, 8);
    pen.fillStyle = colour("muted");
    pen.textBaseline = "top";
    pen.textAlign = "left";
    pen.fillText(number(this.range[0]), 0, 13);
    pen.textAlign = "right";
    pen.fillText(number(this.range[1]), width, 13);
    pen.textAlign = "center";
    pen.fillText(this.label, width / 2, 13);
  }
}
