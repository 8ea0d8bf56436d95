// Files and runs of the workspace, asked for again and again, so that every tab shows the same.

import { ask } from "./tools.js";

const FAST = 700; // ms between two questions while a run is under way
const SLOW = 4000;
const listeners = new Set();
export const store = { files: [], runs: [], models: {}, forms: [] };
let known = "";
let timer = null;

/** `listener(store)` is called at once and after every change. */
export function follow(listener) {
  listeners.add(listener);
  if (known) listener(store);
}

/** Take a list of the workspace that came with an answer, or ask for one. */
export async function refresh(listing = null) {
  clearTimeout(timer);
  try {
    const found = listing ?? (await ask("workspace"));
    Object.assign(store, found);
    const now = JSON.stringify(found);
    if (now !== known) {
      known = now;
      for (const listener of listeners) listener(store);
    }
  } finally {
    clearTimeout(timer);
    timer = setTimeout(() => refresh().catch(() => {}), store.runs.some((run) => !run.over) ? FAST : SLOW);
  }
}
