// The shell: which view shows, the state of the service, the key, light and dark, and files dropped anywhere.

import { ask, askJson, keepKey, key, whenLocked } from "./api.js";
import { find } from "./dom.js";
import { DocumentView } from "./document_view.js";
import { fileSource } from "./source.js";

const VIEWS = ["document", "compare", "requests", "live"];
const LOOK_MS = 4_000;
const PHASES = { syncing: "Fetching models", loading: "Loading models", warming: "Warming up", draining: "Shutting down", failed: "Failed" };
let served = [];

async function openLater(name) {
  const modules = { compare: "./compare_view.js", requests: "./requests_view.js", live: "./live_view.js" };
  const { View } = await import(modules[name]);
  return new View(find(`#view-${name}`), { models: () => served, documents: views.document });
}

const views = { document: new DocumentView(find("#view-document"), { models: () => served }) };

async function route() {
  const [name, ...rest] = location.hash.slice(1).split("/");
  const chosen = VIEWS.includes(name) ? name : "document";
  for (const each of VIEWS) {
    find(`#view-${each}`).hidden = each !== chosen;
    const tab = find(`.tabs [href="#${each}"]`);
    if (each === chosen) tab.setAttribute("aria-current", "page");
    else { tab.removeAttribute("aria-current"); views[each]?.leave?.(); }
  }
  views[chosen] ??= await openLater(chosen);
  views[chosen].enter?.(rest.map(decodeURIComponent).join("/"));
}

async function look() {
  const state = find("#state");
  const say = (phase, words) => { state.dataset.phase = phase; find(".words", state).textContent = words; };
  if (!document.hidden) {
    try {
      const answer = await fetch("/readyz", { cache: "no-store" });
      const { phase, percent } = await answer.json();
      const known = await askJson("/models");
      const isFirst = !served.length;
      served = known.models;
      if (isFirst) document.dispatchEvent(new Event("models"));
      say(phase, phase === "ready" ? `Ready · ${known.device}` : `${PHASES[phase] ?? phase} ${percent} %`);
    } catch {
      say("unreachable", "Not reachable");
    }
  }
  setTimeout(look, LOOK_MS);
}

function askForKey(problem) {
  const dialog = find("#key");
  if (dialog.open) return;
  const isClosed = problem.message.startsWith("The console ");
  find("#key-title").textContent = isClosed ? "The console is closed" : "This service asks for a key";
  find("#key-why").textContent = isClosed ? problem.message
    : key() ? "This key is not known here. Was it copied in full? It may also have been withdrawn."
      : "Whoever runs the service gives you one: a line of letters and digits.";
  find("#key-asked").hidden = isClosed;
  dialog.showModal();
}

function followTheme() {
  const root = document.documentElement;
  const kept = localStorage.getItem("gleaner-theme");
  if (kept) root.dataset.theme = kept;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const offer = () => { find("#theme").textContent = isDark() ? "Light" : "Dark"; find("#theme").title = `Show in ${isDark() ? "light" : "dark"} colours`; };
  find("#theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    localStorage.setItem("gleaner-theme", root.dataset.theme);
    offer();
  });
  offer();
}

function takeDrops() {
  let depth = 0;
  const over = (by) => { depth = Math.max(depth + by, 0); document.body.classList.toggle("dropping", depth > 0); };
  addEventListener("dragenter", () => over(1));
  addEventListener("dragleave", () => over(-1));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    over(-depth);
    const file = event.dataTransfer.files[0];
    if (!file) return;
    if (!find("#view-compare").hidden) return views.compare.take(fileSource(file));
    location.hash = "#document";
    views.document.open(fileSource(file));
  });
}

whenLocked(askForKey);
find("#key form").addEventListener("submit", () => { keepKey(find("#key-value").value); location.reload(); });
addEventListener("hashchange", route);
followTheme();
takeDrops();
look();
route();
ask("/console/entrance").catch(() => {});
