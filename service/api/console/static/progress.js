// How far a document is, while its answer is awaited: asked of the service each second, from the first on.

import { askJson, newId } from "./api.js";
import { make } from "./dom.js";

const EVERY_MS = 1000;
const SENTENCES = { parse: "Reading the file", tokenize: "Cutting the text into tokens", queue: "Extracting", decode: "Putting together what was found" };

export class Progress {
  constructor() {
    this.id = newId();
    this.bar = make("div", { class: "progress" });
    this.words = make("p", { class: "soft small", role: "status" }, "Reading…");
    this.node = make("div", {}, this.bar, this.words);
    this.begun = performance.now();
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
    const seconds = ((performance.now() - this.begun) / 1000).toFixed(0);
    const share = windows > 1 ? done / windows : null;
    this.words.textContent = `${SENTENCES[stage] ?? "Reading and extracting"}${share === null ? "" : `: ${done} of ${windows} windows`}, ${seconds} s …`;
    this.bar.classList.toggle("known", share !== null);
    if (share !== null) this.bar.style.setProperty("--share", `${100 * share}%`);
  }
}
