// The list of files and runs in the workspace. The page requests the list regularly, so that all tabs show the same list.

import { ask } from "./tools.js";

const FAST = 700; // ms between two requests while a run is active
const SLOW = 4000; // ms between two requests otherwise
const listeners = new Set();
export const store = { files: [], runs: [], models: {}, forms: [] };
let known = "";
let timer = null;

/** Call `listener(store)` now and after every change of the list. */
export function follow(listener) {
  listeners.add(listener);
  if (known) listener(store);
}

/** Update the list: with `listing`, or with the answer of the server if `listing` is null. */
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
