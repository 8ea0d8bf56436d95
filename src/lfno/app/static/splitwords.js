// Sentences about a split into transient and steady part: why it is not physical, why there are no true parts, and its error.

import { el, key, percent } from "./tools.js";

const ROUGH = 0.1; // error of the steady part above which the page warns

export class SplitWords {
  constructor() {
    this.title = el("h2", {}, "Transient and steady");
    this.key = key("truth", "truth (dashed)");
    this.caveat = el("p", { class: "note small", id: "split-caveat", hidden: true });
    this.reason = el("p", { class: "note small", id: "split-reason", hidden: true });
    this.error = el("p", { class: "muted small", id: "split-error" }, "The parts are being computed…");
    this.node = el("div", { class: "split-words" }, this.caveat, this.reason, this.error);
  }

  /** Say that the parts belong to the previous input, until the parts of the new input arrive. */
  wait() {
    this.error.className = "muted small";
    this.error.hidden = false;
    this.error.textContent = "The parts of the new input are being computed…";
  }

  /** Show the sentences. found: the answer to the question "split". */
  tell(found) {
    const known = found.true_steady !== undefined;
    this.title.textContent = known ? "Transient and steady, with the truth" : "Transient and steady";
    this.key.hidden = !known;
    const rough = found.split_error > ROUGH;
    const steady = "Steady: the response to this input repeated for ever.";
    const error = known && found.split_error === null ? `${steady} The response is zero.` : known ? `${steady} The steady part of ${/ (model|equation)$/.test(found.label) ? "the " : ""}${found.label} differs from the true steady part by ${percent(found.split_error)} of the response.${rough ? " Do not rely on this split." : ""}` : "";
    this.error.className = rough ? "note small" : "muted small";
    for (const [node, words] of [[this.caveat, found.caveat], [this.reason, found.reason], [this.error, error]]) {
      node.textContent = words;
      node.hidden = !words;
    }
  }
}
