// The system in view: its input, the truth, the answers of the models, and which of them are hidden.

export const page = { system: null, query: {}, truth: null, answers: new Map(), hidden: new Set(), models: [], catalogue: null, toggle: () => {} };
const COLOURS = { "LFNO rich": "lfno", "FNO rich": "fno", "LNO rich": "lno", LFNO: "lfno", FNO: "fno", LNO: "lno" };

/** The colour of a model: its kind's, lighter companions for the paper's models beside rich ones, violet for one's own. */
export function mark(key) {
  const rich = page.models.some((one) => one.key.endsWith(" rich"));
  if (!(key in COLOURS)) return "yours";
  return rich && !key.endsWith(" rich") ? `${COLOURS[key]}-faint` : COLOURS[key];
}
