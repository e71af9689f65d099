// How far a document is, while its answer is awaited: asked of the service each second, from the first on.

import { askJson, newId } from "./api.js";
import { count, make } from "./dom.js";

const EVERY_MS = 1000;
const SURE = 0.02; // share of the work that must have been watched before the time left is worth saying
const TOLD_SECONDS = 3; // of waiting, from which they are told
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
    this.since = performance.now();
    this.begun = {};
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

  #show({ stage, windows_done: windowsDone, windows, pages_done: pagesDone, pages }) {
    const isRecognizing = stage === "parse" && pages > 0;
    const [done, all] = isRecognizing ? [pagesDone, pages] : stage === "queue" ? [windowsDone, windows] : [0, 0];
    const share = all > 1 ? done / all : null;
    const said = [isRecognizing ? `Recognizing the text in ${count(pages, "picture")}` : SENTENCES[stage] ?? "Reading the file"];
    if (share !== null) said.push(isRecognizing ? `${done.toLocaleString("en")} done` : this.#far(share));
    const time = share !== null && left(this.#secondsLeft(stage, share));
    const waited = (performance.now() - this.since) / 1000;
    said.push(time || (waited >= TOLD_SECONDS && `for ${count(Math.round(waited), "second")} now`));
    this.words.textContent = `${said.filter(Boolean).join(", ")} …`;
    this.bar.classList.toggle("known", share !== null);
    if (share !== null) this.bar.style.setProperty("--share", `${100 * share}%`);
  }

  #far(share) {
    const pages = this.pages();
    return pages > 1 ? `about page ${Math.max(1, Math.round(share * pages)).toLocaleString("en")} of ${pages.toLocaleString("en")}` : `${Math.round(100 * share)} % done`;
  }

  #secondsLeft(stage, share) {
    const now = performance.now() / 1000;
    this.begun[stage] ??= [now, share];
    const [at, from] = this.begun[stage];
    return share - from >= SURE ? ((now - at) / (share - from)) * (1 - share) : Infinity;
  }
}
