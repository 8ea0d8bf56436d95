// An input that the user draws, with the pointer or with the arrow keys.

import { line, Sheet, ticks } from "./sheet.js";
import { colour, el, number } from "./tools.js";

const COUNT = 129; // number of points
const HEIGHT = 8; // largest value that can be drawn

export class Sketch extends Sheet {
  constructor(limits, change) {
    const parent = el("div", { class: "sketch" });
    super(parent, 130);
    Object.assign(this, { node: parent, duration: limits.duration, change, at: 32 });
    this.points = Array.from({ length: COUNT }, (_, n) => Number((4 * Math.exp(-(((n - 30) / 12) ** 2)) - 3 * Math.exp(-(((n - 70) / 9) ** 2))).toFixed(3)));
    this.canvas.setAttribute("aria-label", "input drawn by hand: draw with the pointer; left and right choose a point, up and down move it");
    parent.append(el("p", { class: "muted small" }, "Draw here with the pointer. Arrow keys choose and move a point."));
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.last = null;
      this.paint(event);
    });
    this.canvas.addEventListener("pointermove", (event) => event.buttons && this.paint(event));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left - this.frame.left) / (this.frame.right - this.frame.left)));
    const up = 1 - (2 * (event.clientY - box.top - this.frame.top)) / (this.frame.bottom - this.frame.top);
    return [Math.round(share * (COUNT - 1)), Number((HEIGHT * Math.max(-1, Math.min(1, up))).toFixed(2))];
  }

  paint(event) {
    const [at, value] = this.place(event);
    const [from, first] = this.last ?? [at, value];
    const steps = Math.max(1, Math.abs(at - from));
    for (let n = 0; n <= steps; n += 1) this.points[Math.round(from + ((at - from) * n) / steps)] = Number((first + ((value - first) * n) / steps).toFixed(3));
    this.last = [at, value];
    this.at = at;
    this.draw();
    this.change();
  }

  key(event) {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 0.25], ArrowDown: [0, -0.25] }[event.key];
    if (!move) return;
    event.preventDefault();
    this.at = Math.min(COUNT - 1, Math.max(0, this.at + move[0]));
    if (move[1]) {
      this.points[this.at] = Math.max(-HEIGHT, Math.min(HEIGHT, this.points[this.at] + move[1]));
      this.change();
    }
    this.draw();
  }

  draw() {
    const sheet = this.begin();
    if (!sheet) return;
    const { pen, width, height } = sheet;
    const frame = (this.frame = { left: 34, right: width - 8, top: 6, bottom: height - 18 });
    const x = (n) => frame.left + (n / (COUNT - 1)) * (frame.right - frame.left);
    const y = (value) => (frame.top + frame.bottom) / 2 - (value / HEIGHT) * ((frame.bottom - frame.top) / 2);
    pen.strokeStyle = colour("grid");
    pen.fillStyle = colour("muted");
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const value of ticks(-HEIGHT, HEIGHT, 4)) {
      line(pen, frame.left, y(value), frame.right, y(value));
      pen.fillText(number(value), frame.left - 6, y(value));
    }
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const value of ticks(0, this.duration, 5)) pen.fillText(`${number(value)} s`, x((value / this.duration) * (COUNT - 1)), frame.bottom + 4);
    pen.strokeStyle = colour("lfno");
    pen.lineWidth = 2;
    pen.beginPath();
    this.points.forEach((value, n) => (n ? pen.lineTo(x(n), y(value)) : pen.moveTo(x(n), y(value))));
    pen.stroke();
    pen.fillStyle = colour("text");
    pen.beginPath();
    pen.arc(x(this.at), y(this.points[this.at]), 4, 0, 7);
    pen.fill();
  }
}
