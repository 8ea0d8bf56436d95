// Words about a split into transient and steady part: why it is not physical, why there is no true one, and how far it is from the true one.

import { el, percent } from "./tools.js";

export class SplitWords {
  constructor(parent) {
    this.caveat = el("p", { class: "note", id: "split-caveat", hidden: true });
    this.reason = el("p", { class: "note small", id: "split-reason", hidden: true });
    this.error = el("p", { class: "muted small", id: "split-error", hidden: true });
    parent.append(this.caveat, this.reason, this.error);
  }

  /** found: the answer to the question "split". */
  tell(found) {
    const error = found.split_error === undefined ? "" : `The parts of ${found.label} differ from the true parts by ${percent(found.split_error)} of the response.`;
    for (const [node, words] of [[this.caveat, found.caveat], [this.reason, found.reason], [this.error, error]]) {
      node.textContent = words;
      node.hidden = !words;
    }
  }
}
