// The first view: a document is dropped, and what was found stands on its pages.

import { extract } from "./api.js";
import { count, find, make, milliseconds, short } from "./dom.js";
import { EntityList } from "./entity_list.js";
import { failure } from "./failure.js";
import { Findings, labelsBox, labelsOf } from "./findings.js";
import { MarkedText } from "./marked_text.js";
import { PageStrip } from "./pages.js";
import { Progress } from "./progress.js";
import { curl, json, python, showSnippets } from "./snippets.js";
import { fileSource, preview, textSource } from "./source.js";
import { dropZone, startView } from "./start_view.js";

const reference = (each) => (each.state === "serving" ? `${each.name}@${each.tag || "stable"}` : `${each.name}@${each.revision}`);

export class DocumentView {
  constructor(root, { models }) {
    this.root = root;
    this.models = models;
    this.model = "";
    this.labels = labelsBox({ id: "labels", onchange: () => this.open(this.source) });
    this.#start();
    addEventListener("scroll", () => this.strip?.noteScroll(), { passive: true });
    addEventListener("keydown", (event) => this.#key(event));
    addEventListener("paste", (event) => this.#paste(event));
  }

  #start(more = {}) {
    this.source = this.list = null;
    this.strip?.close();
    this.strip = null;
    const choice = (changed) => (this.models().length > 1 ? ["Model ", this.#choice(more.again ?? changed)] : []);
    this.root.replaceChildren(startView({ open: (source) => this.open(source), model: () => this.#model, choice, ...more }));
  }

  /** Show a document: its pages as they are drawn, its entities when they are there. */
  async open(source) {
    this.abort?.abort();
    const abort = this.abort = new AbortController();
    this.strip?.close();
    this.source = source;
    this.strip = source.isDrawn ? this.#pagesOf(source) : null;
    this.findings = this.answer = this.list = this.problem = null;
    const progress = new Progress(() => this.strip?.known ?? 0);
    this.notes = make("div", { class: "notes" });
    this.body = make("div", { class: "body" }, this.strip?.node ?? make("div", { class: "text card soft" }, await preview(source)));
    this.side = make("aside", { class: "card side", "aria-label": "What was found" }, progress.node);
    this.facts = make("span", { class: "facts" });
    this.#layout();
    try {
      const answer = await extract(source, this.#options(), abort.signal, progress.id);
      if (abort === this.abort) this.#show(answer);
    } catch (problem) {
      if (abort === this.abort && problem.name !== "AbortError") this.#fail(problem);
    } finally {
      progress.stop();
    }
  }

  #pagesOf(source) {
    return new PageStrip(source, { onPage: (number) => this.#onPage(number), onFailed: () => this.problem && this.#fail(this.problem) });
  }

  get document() { return this.source; }

  #options() { return { ...(this.model && this.#model && { model: reference(this.#model) }), ...(this.#isGivenLabels() ? { labels: this.labels.value } : { fields: "true" }) }; }

  /** The chosen model, or else the first one; undefined while none is known. */
  get #model() { return this.models().find((each) => reference(each) === this.model) ?? this.models()[0]; }

  #isGivenLabels() { return this.#model?.free_labels; }

  #choice(changed) {
    return make("select", { "aria-label": "Model", onchange: (event) => { this.model = event.target.value; changed(); } },
      ...this.models().map((each) => make("option", { value: reference(each), selected: each === this.#model }, `${each.name} · ${each.tag || each.state} · ${short(each.revision)}`)));
  }

  #layout() {
    this.modes = make("div", { class: "choice", role: "group", "aria-label": "Show", hidden: !this.strip },
      ...["Pages", "Text"].map((name) => make("button", { type: "button", "aria-pressed": String(name === "Pages"), onclick: () => this.#mode(name) }, name)));
    this.jump = make("span", { class: "jump", hidden: true });
    this.root.replaceChildren(make("div", { class: "work" },
      make("div", { class: "head" }, make("h1", {}, this.source.name), this.facts, this.jump,
        make("div", { class: "tools" }, this.modes, this.#isGivenLabels() && this.labels, this.#choice(() => this.open(this.source)),
          make("button", { type: "button", id: "copy", disabled: true, onclick: () => this.#copy() }, "Copy as…"),
          make("button", { type: "button", class: "primary", id: "another", onclick: () => this.#another() }, "Another document"))),
      this.notes, this.body, this.side));
  }

  #another() { this.abort?.abort(); this.#start(); }

  #show(answer) {
    this.answer = answer;
    const { document, timing, request } = answer;
    this.findings = new Findings(document, labelsOf(this.models().find((each) => each.revision === answer.model.revision)));
    const total = document.pages ?? 1;
    this.facts.replaceChildren([document.pages && count(document.pages, "page"), count(document.characters, "character")].filter(Boolean).join(" · "), " · ",
      make("a", { href: `#requests/${encodeURIComponent(request)}` }, `${milliseconds(timing.total_ms)}: where the time went`));
    const [unread, partly] = [document.unread_pages, partlyRead(document)];
    if (unread.length) this.notes.append(make("p", { class: "notice" }, `${numbered("Page", unread)} could not be read; at most a heading or a stamp was.`));
    if (partly.length) this.notes.append(make("p", { class: "notice" }, `${partly.length > 1 ? "Parts" : "A part"} of ${numbered("page", partly)} could not be read (dashed).`));
    const characters = (reason) => document.partly_read.filter((part) => part.reason === reason).reduce((sum, part) => sum + part.characters, 0);
    const [hidden, struck] = ["hidden", "struck"].map(characters);
    if (hidden) this.notes.append(make("p", { class: "notice" }, `${count(hidden, "character")} left out: they are hidden, so that no person sees them.`));
    if (struck) this.notes.append(make("p", { class: "notice" }, `${count(struck, "character")} left out: they are struck out.`));
    const isPictureUnread = document.partly_read.some((part) => part.page === null && part.reason === "image");
    if (isPictureUnread) this.notes.append(make("p", { class: "notice" }, "A picture in the file, or part of one, was not read."));
    if (!this.strip && document.page_sizes) this.body.replaceChildren((this.strip = this.#pagesOf(this.source)).node);
    this.modes.hidden = !this.strip;
    if (this.strip) {
      this.strip.setPages(total, document.page_sizes);
      this.strip.setFindings(this.findings, document.unread_pages, document.partly_read);
      if (total > 1) this.#addJump(total);
    } else this.body.replaceChildren((this.text = new MarkedText(this.findings)).node);
    this.list = new EntityList(this.findings, { pages: total });
    this.side.replaceWith(this.list.node);
    this.side = this.list.node;
    find("#copy", this.root).disabled = false;
    this.root.dataset.request = request;
  }

  /** Say what is wrong and offer the next step; pages that can be drawn stay, as their reader may see why. */
  #fail(problem) {
    const again = () => this.open(source);
    const { source } = this;
    this.problem = problem;
    if (!this.strip || this.strip.isBlank) return this.#start({ problem, again, text: source.text });
    this.notes.replaceChildren(failure(problem, again));
    this.side.replaceChildren(dropZone((chosen) => this.open(chosen), "Drop another document here"));
  }

  #addJump(total) {
    const page = make("input", { type: "number", min: 1, max: total, value: 1, "aria-label": "Go to page", onchange: () => this.strip.goToPage(Number(page.value)) });
    this.jump.replaceChildren("Page", page, `of ${total.toLocaleString("en")}`);
    this.jump.hidden = false;
    this.pageInput = page;
  }

  #onPage(number) {
    if (this.pageInput && document.activeElement !== this.pageInput) this.pageInput.value = number;
    this.list?.setPage(number);
  }

  #mode(name) {
    for (const each of this.modes.children) each.setAttribute("aria-pressed", String(each.textContent === name));
    if (name === "Text" && this.findings) {
      this.text = new MarkedText(this.findings);
      this.body.replaceChildren(this.text.node);
    } else this.body.replaceChildren(this.strip.node);
  }

  #copy() {
    showSnippets([["JSON", json(this.answer)], ["curl", curl(this.source, this.#options())], ["Python", python(this.source, this.#options())]]);
  }

  #key(event) {
    const typing = /^(input|textarea|select)$/i.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey;
    if (typing || this.root.hidden || !this.list) return;
    if (event.key === "/") { event.preventDefault(); this.list.focusSearch(); }
    if (event.key === "j" || event.key === "k") this.#next(event.key === "j" ? 1 : -1);
  }

  #next(by) {
    const shown = this.findings.shown();
    const at = shown.findIndex((each) => each.index === this.findings.chosen);
    const next = shown[at < 0 ? 0 : at + by];
    if (next) this.findings.choose(next.index, "key");
  }

  #paste(event) {
    if (this.root.hidden || /^(input|textarea)$/i.test(event.target.tagName)) return;
    const file = event.clipboardData.files[0];
    const text = event.clipboardData.getData("text/plain");
    if (file) this.open(fileSource(file));
    else if (text.trim()) this.open(textSource(text));
  }
}

/** The pages with text of which a part was not read. */
function partlyRead({ partly_read: parts, unread_pages: unread }) {
  const seen = parts.filter(({ page, reason }) => page !== null && !unread.includes(page) && !["hidden", "struck"].includes(reason));
  return [...new Set(seen.map(({ page }) => page))];
}

function numbered(word, pages) {
  const shown = pages.slice(0, 12).join(", ") + (pages.length > 12 ? ` and ${pages.length - 12} more` : "");
  return pages.length === 1 ? `${word} ${shown}` : `${word}s ${shown}`;
}
