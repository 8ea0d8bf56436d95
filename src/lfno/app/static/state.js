// The system in view: its input, the truth, the answers of the models, and which of them are hidden.

export const page = { system: null, query: {}, truth: null, answers: new Map(), hidden: new Set(), models: [], catalogue: null, toggle: () => {}, toPaper: () => {} };
const COLOURS = { "feedback rich": "feedback", "LFNO rich": "lfno", "FNO rich": "fno", "LNO rich": "lno", LFNO: "lfno", FNO: "fno", LNO: "lno", marching: "lfno" };

/** Whether a shipped model was trained on random inputs. */
export const isRich = (key) => key.endsWith(" rich");

/** The colour of a model: its kind's, lighter companions for the paper's models beside rich ones, a colour of its own for one's own. */
export function mark(key) {
  const rich = page.models.some((one) => isRich(one.key));
  if (!(key in COLOURS)) return "yours";
  return rich && !isRich(key) ? `${COLOURS[key]}-faint` : COLOURS[key];
}

/** What the kinds of models are, in a few words. */
export const ABOUT = {
  linear: "modes of a linear system",
  feedback: "modes whose response acts back on them through a nonlinear function, as a stiffening spring does",
  lfno: "a network with poles for the transient and Fourier modes for the steady part",
  fno: "a network with Fourier modes alone, to compare with",
  lno: "a network with poles alone, to compare with",
};
