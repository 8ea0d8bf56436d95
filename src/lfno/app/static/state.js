// The state of the view "systems": the system, its input, the truth, the predictions of the models, and the hidden models.

export const page = { system: null, query: {}, truth: null, answers: new Map(), hidden: new Set(), models: [], catalogue: null, toggle: () => {}, toPaper: () => {} };
const COLOURS = { "feedback rich": "feedback", "equation rich": "feedback", "LFNO rich": "lfno", "FNO rich": "fno", "LNO rich": "lno", LFNO: "lfno", FNO: "fno", LNO: "lno", marching: "lfno" };

/** True if a shipped model was trained on random inputs. */
export const isRich = (key) => key.endsWith(" rich");

/** True for a model that was trained on the paper's inputs, of one shape only, if another model was trained on random inputs. */
export const isPaper = (model) => model.label.endsWith("(paper)");

/** The name of the colour of a model. Models of the user have one colour. If a model was trained on random inputs, the other
 *  shipped models have lighter colours. */
export function mark(key) {
  const rich = page.models.some((one) => isRich(one.key));
  if (!(key in COLOURS)) return "yours";
  return rich && !isRich(key) ? `${COLOURS[key]}-faint` : COLOURS[key];
}

/** Kind of model → its description. */
export const ABOUT = {
  linear: "modes of a linear system",
  feedback: "linear modes with a nonlinear function in a feedback loop, for example a stiffening spring",
  lfno: "a network with poles for the transient part and Fourier modes for the steady part",
  fno: "a network with Fourier modes only, for comparison",
  lno: "a network with poles only, for comparison",
};
