// Maps of the user's fields, one map for each array: the whole field (x, t), or the last time of a flow (x, y, t).

import { ColourBar, colourRange, FieldMap, sharedView } from "./maps.js";
import { channel, el, unpack } from "./tools.js";

export function drawFields(body, axes, arrays) {
  const flow = axes.length === 3;
  const [rows, columns] = flow ? [axes[1], axes[0]] : [axes[0], axes[1]];
  const maps = el("div", { class: "maps three" });
  body.append(maps);
  const fields = arrays.map(([name, packed]) => [name, lastFrame(channel(unpack(packed), 0), flow)]);
  const answers = fields.filter(([name]) => name !== "input").map(([, field]) => field);
  const view = sharedView();
  for (const [name, field] of fields) {
    const range = colourRange(name === "input" ? [field] : answers); // all fields but the input have the same colour scale
    const figure = el("figure", { class: "map" }, el("figcaption", {}, name));
    maps.append(figure);
    new FieldMap(figure, () => {}, flow ? 1 : 0.8, view).set(field, rows, columns, range, "signed", null, name);
    new ColourBar(figure).set(range, "signed", "");
  }
}

function lastFrame(array, flow) {
  if (!flow) return array;
  const [wide, high, moments] = array.shape;
  return { shape: [high, wide], values: Float32Array.from({ length: wide * high }, (_, n) => array.values[((n % wide) * high + Math.floor(n / wide)) * moments + moments - 1]) };
}
