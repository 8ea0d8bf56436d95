// Poles in the s-plane: rate of decay, frequency, and contribution (the area of a circle).

import { line, row, Sheet, ticks } from "./sheet.js";
import { colour, el, number, percent } from "./tools.js";

export class SPlane extends Sheet {
  constructor(parent, height = 300) {
    super(parent, height);
    this.poles = null;
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => this.point(null));
    this.over = null;
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("blur", () => this.point(null));
    const names = ["layer", "re", "im", "frequency", "damping_ratio", "time_constant", "contribution"];
    this.savers(() => "Poles of the layers", () => [names, ...this.poles.re.map((_, n) => names.map((name) => this.poles[name][n]))]);
  }

  /** Arrow keys go from pole to pole, beginning with the pole of the largest contribution. */
  key(event) {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (!step || !this.places) return;
    event.preventDefault();
    const count = this.places.length;
    const next = this.over === null ? 0 : (this.over + step + count) % count;
    this.point(next);
    this.say(this.places[next].x, this.places[next].y, describe(this.poles, next, this.name));
  }

  /** poles: columns re, im, frequency, damping_ratio, time_constant, contribution, layer. */
  set(poles, name) {
    Object.assign(this, { poles, name, over: null });
    this.tip.hidden = true;
    this.canvas.setAttribute("aria-label", `${poles.re.length} poles in the s-plane; those with the largest contributions are listed below`);
    this.draw();
  }

  /** The scales of both axes. The horizontal axis is logarithmic, because rates of decay span decades. Near zero it is linear. */
  scales(frame) {
    const sizes = this.poles.re.map(Math.abs).filter((size) => size > 0);
    const knee = 10 ** Math.floor(Math.log10(Math.min(...sizes)));
    const bend = (value) => {
      const size = Math.abs(value) / knee;
      return Math.sign(value) * (size <= 1 ? size * 0.35 : 0.35 + Math.log10(size));
    };
    const left = bend(-Math.max(...sizes) * 1.5);
    const right = Math.max(bend(Math.max(...this.poles.re)), 0) + 0.12;
    const most = Math.max(...this.poles.frequency) * 1.08 || 1;
    const x = (value) => frame.left + ((bend(value) - left) / (right - left)) * (frame.right - frame.left);
    const y = (value) => (frame.top + frame.bottom) / 2 - (value / most) * ((frame.bottom - frame.top) / 2);
    return { x, y, knee, most, largest: Math.max(...sizes) };
  }

  draw() {
    if (!this.poles || !this.poles.re.length) return;
    const sheet = this.begin();
    if (!sheet) return;
    const { pen, width, height } = sheet;
    const frame = { left: 50, right: width - 6, top: 6, bottom: height - 34 };
    const scale = this.scales(frame);
    this.background(pen, frame, scale);
    this.places = this.poles.re.map((re, n) => ({
      x: scale.x(re),
      y: scale.y(this.poles.frequency[n]),
      mirror: scale.y(-this.poles.frequency[n]),
      radius: 2 + 17 * Math.sqrt(this.poles.contribution[n]),
    }));
    pen.fillStyle = colour(this.name);
    pen.strokeStyle = colour("panel");
    for (const { x, y, mirror, radius } of this.places) {
      for (const [place, alpha] of [[mirror, 0.22], [y, 0.62]]) {
        pen.globalAlpha = alpha;
        pen.beginPath();
        pen.arc(x, place, radius, 0, 7);
        pen.fill();
      }
    }
    pen.globalAlpha = 1;
    if (this.over !== null) {
      const { x, y, radius } = this.places[this.over];
      pen.strokeStyle = colour("text");
      pen.lineWidth = 1.6;
      pen.beginPath();
      pen.arc(x, y, radius + 1.5, 0, 7);
      pen.stroke();
    }
  }

  background(pen, frame, scale) {
    const zero = scale.x(0);
    pen.fillStyle = colour("stable");
    pen.fillRect(frame.left, frame.top, zero - frame.left, frame.bottom - frame.top);
    pen.strokeStyle = colour("grid");
    pen.fillStyle = colour("muted");
    pen.lineWidth = 1;
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (let size = scale.knee; size <= scale.largest * 1.5; size *= 10) {
      const x = Math.round(scale.x(-size)) + 0.5;
      line(pen, x, frame.top, x, frame.bottom);
      pen.fillText(number(-size), x, frame.bottom + 5);
    }
    pen.fillText("0", zero, frame.bottom + 5);
    pen.fillText("Re μ [1/s]", (frame.left + frame.right) / 2, frame.bottom + 20);
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const value of ticks(-scale.most, scale.most, 6)) {
      const y = Math.round(scale.y(value)) + 0.5;
      line(pen, frame.left, y, frame.right, y);
      pen.fillText(number(value), frame.left - 6, y);
    }
    pen.strokeStyle = colour("muted");
    line(pen, Math.round(zero) + 0.5, frame.top, Math.round(zero) + 0.5, frame.bottom);
    pen.save();
    pen.translate(10, (frame.top + frame.bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "center";
    pen.fillText("Im μ / 2π [Hz]", 0, 0);
    pen.restore();
  }

  hover(event) {
    if (!this.places) return;
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, least] = [null, 144];
    this.places.forEach((place, n) => {
      const far = Math.max(0, Math.hypot(place.x - x, Math.min(Math.abs(place.y - y), Math.abs(place.mirror - y))) - place.radius) ** 2;
      if (far < least) [best, least] = [n, far];
    });
    this.point(best);
    if (best !== null) this.say(x, y, describe(this.poles, best, this.name));
  }

  point(n) {
    if (n === null) this.tip.hidden = true;
    if (this.over === n) return;
    this.over = n;
    this.draw();
  }
}

function describe(poles, n, name) {
  return [
    el("div", { class: "muted" }, `pole of layer ${poles.layer[n]}`),
    row(name, "frequency", `${number(poles.frequency[n])} Hz`),
    row(name, "damping ratio", percent(poles.damping_ratio[n])),
    row(name, "time constant", `${number(poles.time_constant[n])} s`),
    row(name, "share of its layer", percent(poles.contribution[n])),
  ];
}

/** A table of the poles with the largest contributions, for users without a mouse. */
export function poleTable(poles, chart, count = 6) {
  const cells = (n) => [String(poles.layer[n]), number(poles.frequency[n]), percent(poles.damping_ratio[n]), number(poles.time_constant[n]), percent(poles.contribution[n])];
  const rows = Array.from({ length: Math.min(count, poles.re.length) }, (_, n) =>
    el("tr", { onpointerenter: () => chart.point(n), onpointerleave: () => chart.point(null) }, ...cells(n).map((cell) => el("td", {}, cell))));
  const heads = ["layer", "Hz", "damping", "τ [s]", "share"].map((text) => el("th", { scope: "col" }, text));
  return el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows));
}
