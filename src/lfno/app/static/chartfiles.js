// Save a chart (chart.js) as a table or as a picture.

import { colour, download, el, savedName, unitOf } from "./tools.js";

/** Save the values of a chart, with names and units. */
export function saveTable(chart) {
  const unit = unitOf(chart.yLabel);
  const heads = [chart.across, ...chart.series.map((one) => (unit ? `${one.label ?? one.name} [${unit}]` : one.label ?? one.name))].map((text) => `"${text.replaceAll('"', "'")}"`);
  const rows = Array.from(chart.x, (value, n) => [value, ...chart.series.map((one) => one.y[n])].map((cell) => (Number.isFinite(cell) ? cell : "")).join(","));
  download(`${savedName(chart.box, chart.title)}.csv`, [heads.join(","), ...rows, ""].join("\n"));
}

/** Save a chart as a picture with a title, the names of its curves, and the label of the time axis. */
export function savePicture(chart) {
  const source = chart.u.ctx.canvas;
  const ratio = window.devicePixelRatio || 1;
  const canvas = el("canvas");
  const pen = canvas.getContext("2d");
  const font = `${12 * ratio}px system-ui, sans-serif`;
  pen.font = font;
  let [left, top] = [12 * ratio, 17 * ratio];
  const words = [[chart.title, "text"], ...chart.series.map((one) => [one.label ?? one.name, one.name])].map(([text, mark]) => {
    const wide = pen.measureText(text).width + 18 * ratio;
    if (left > 12 * ratio && left + wide > source.width) [left, top] = [12 * ratio, top + 17 * ratio];
    left += wide;
    return [text, mark, left - wide, top];
  });
  Object.assign(canvas, { width: source.width, height: source.height + top + (chart.xLabel ? 9 : 27) * ratio });
  pen.fillStyle = colour("panel");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(source, 0, top + 9 * ratio);
  pen.font = font;
  for (const [text, mark, x, y] of words) {
    pen.fillStyle = colour(mark);
    pen.fillText(text, x, y);
  }
  pen.fillStyle = colour("muted");
  pen.textAlign = "center";
  if (!chart.xLabel) pen.fillText(chart.across, chart.u.bbox.left + chart.u.bbox.width / 2, canvas.height - 6 * ratio);
  canvas.toBlob((blob) => download(`${savedName(chart.box, chart.title)}.png`, blob));
}
