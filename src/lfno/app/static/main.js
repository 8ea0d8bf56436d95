// Start the page, and show the view that the address names. Change between light and dark colours.

import { rebuildAll } from "./chart.js";
import { redrawAll } from "./sheet.js";
import * as signals from "./signals.js";
import { refresh } from "./store.js";
import * as systems from "./systems.js";
import { byId, complain } from "./tools.js";

const VIEWS = { systems, signals };

/** The address as view, content and options: #systems/duffing-c05?kind=sine&… → ["systems", "duffing-c05", {kind: "sine", …}] */
function address() {
  const [place, query = ""] = location.hash.slice(1).split("?");
  const [view, ...rest] = place.split("/");
  return [view in VIEWS ? view : "systems", decodeURIComponent(rest.join("/")), Object.fromEntries(new URLSearchParams(query))];
}

async function show() {
  const [view, what, query] = address();
  for (const name of Object.keys(VIEWS)) {
    byId(`view-${name}`).hidden = name !== view;
    if (name === view) byId(`tab-${name}`).setAttribute("aria-current", "page");
    else byId(`tab-${name}`).removeAttribute("aria-current");
  }
  document.title = view === "systems" ? "lfno: systems" : "lfno: your signals";
  try {
    await VIEWS[view].open(what, query);
  } catch (error) {
    complain(error);
  }
}

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const redraw = () => {
    rebuildAll();
    redrawAll();
  };
  const kept = localStorage.getItem("theme");
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  dark.addEventListener("change", redraw);
  byId("theme").addEventListener("click", () => {
    const now = root.dataset.theme ?? (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
    redraw();
  });
}

theme();
byId("alert").lastElementChild.addEventListener("click", () => complain(null));
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
addEventListener("hashchange", show);
signals.start();
show();
refresh().catch(complain);
