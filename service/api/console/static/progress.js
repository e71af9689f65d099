// How far a document is, while its answer is awaited: asked of the service each second, from the first on.

import { askJson, newId } from "./api.js";
import { make } from "./dom.js";

const EVERY_MS = 1000;
const SURE = 0.02; // share of the work that must have been watched before the time left is worth saying
const SENTENCES = { parse: "Reading the file", tokenize: "Preparing the text", queue: "Looking for entities", decode: "Putting together what was found" };

/** Seconds in a reader's words; nothing while they are not known. */
export function left(seconds) {
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 8) return "a few seconds left";
  if (seconds < 90) return `about ${Math.round(seconds / 5) * 5} seconds left`;
  return `about ${Math.round(seconds / 60)} minutes left`;
}

export class Progress {
  /** `pages`: gives how many the document has, 0 if that is not known. */
  constructor(pages = () => 0) {
    this.id = newId();
    this.pages = pages;
    this.bar = make("div", { class: "progress" });
    this.words = make("p", { class: "soft", role: "status" }, "Reading the file …");
    this.node = make("div", { class: "waits" }, this.bar, this.words,
      make("p", { class: "soft small" }, "All that is found comes at once when the last page is done."));
    this.clock = setInterval(() => this.#tick(), EVERY_MS);
  }

  stop() { clearInterval(this.clock); this.clock = null; }

  async #tick() {
    if (this.asking) return;
    this.asking = true;
    let known = {};
    try { known = await askJson(`/console/progress/${this.id}`); } catch { /* The answer itself will say what is wrong. */ }
    this.asking = false;
    if (this.clock) this.#show(known);
  }

  #show({ stage, windows_done: done, windows }) {
    const share = stage === "queue" && windows > 1 ? done / windows : null;
    const said = [SENTENCES[stage] ?? "Reading the file"];
    if (share !== null) said.push(this.#far(share), left(this.#secondsLeft(share)));
    this.words.textContent = `${said.filter(Boolean).join(", ")} …`;
    this.bar.classList.toggle("known", share !== null);
    if (share !== null) this.bar.style.setProperty("--share", `${100 * share}%`);
  }

  #far(share) {
    const pages = this.pages();
    return pages > 1 ? `about page ${Math.max(1, Math.round(share * pages)).toLocaleString("en")} of ${pages.toLocaleString("en")}` : `${Math.round(100 * share)} % done`;
  }

  #secondsLeft(share) {
    const now = performance.now() / 1000;
    this.begun ??= [now, share];
    const [at, from] = this.begun;
    return share - from >= SURE ? ((now - at) / (share - from)) * (1 - share) : Infinity;
  }
}
