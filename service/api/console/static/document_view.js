// The first view: a document is dropped, and what was found stands on its pages.

import { Problem, extract } from "./api.js";
import { count, find, make, milliseconds, short } from "./dom.js";
import { EntityList } from "./entity_list.js";
import { Findings } from "./findings.js";
import { MarkedText } from "./marked_text.js";
import { PageStrip } from "./pages.js";
import { Progress } from "./progress.js";
import { curl, json, python, showSnippets } from "./snippets.js";
import { SAMPLES, fileSource, sampleSource, textSource } from "./source.js";

export class DocumentView {
  constructor(root, { models }) {
    this.root = root;
    this.models = models;
    this.model = "";
    this.#start();
    addEventListener("scroll", () => this.strip?.noteScroll(), { passive: true });
    addEventListener("keydown", (event) => this.#key(event));
    addEventListener("paste", (event) => this.#paste(event));
  }

  #start(problem) {
    this.source = this.list = null;
    this.strip?.close();
    this.strip = null;
    const chosen = make("input", { type: "file", accept: ".pdf,.docx,.html,.htm,.txt,.md,.xml,.png,.jpg,.jpeg,.tif,.tiff,.webp,.bmp", hidden: true, "aria-label": "A file",
      onchange: () => chosen.files[0] && this.open(fileSource(chosen.files[0])) });
    const words = make("textarea", { id: "words", placeholder: "Invoice INV-20931 from Acme GmbH, due 12 March 2026, total EUR 1,200.00." });
    this.root.replaceChildren(make("div", { class: "start" },
      make("h1", {}, "See what is found in a document"),
      make("p", {}, "It is read by this service, on this machine’s models, and kept nowhere."),
      problem && make("p", { class: "notice bad", role: "alert" }, problem),
      make("div", { class: "drop" }, make("strong", {}, "Drop a document here"), make("span", { class: "soft" }, "PDF, DOCX, HTML, XML invoice or text, of any length"),
        make("button", { type: "button", class: "primary", onclick: () => chosen.click() }, "Choose a file"), chosen),
      make("form", { class: "paste", onsubmit: (event) => { event.preventDefault(); if (words.value.trim()) this.open(textSource(words.value)); } },
        make("label", { for: "words" }, "Or paste a text"), words, make("button", { type: "submit" }, "Extract")),
      make("div", { class: "samples" }, make("span", { class: "soft" }, "Or a sample:"), ...SAMPLES.map(([name, title]) =>
        make("button", { type: "button", "data-sample": name, onclick: async () => this.open(await sampleSource(name)) }, title)))));
  }

  /** Show a document: its pages as they are drawn, its entities when they are there. */
  async open(source) {
    this.abort?.abort();
    const abort = this.abort = new AbortController();
    this.strip?.close();
    this.source = source;
    this.strip = source.isPdf ? new PageStrip(source, { onPage: (number) => this.#onPage(number) }) : null;
    this.findings = this.answer = this.list = null;
    const progress = new Progress();
    this.notes = make("div", { class: "notes" });
    this.body = make("div", { class: "body" }, this.strip?.node ?? "");
    this.side = make("aside", { class: "card side", "aria-label": "What was found" }, make("div", { class: "filters" }, progress.node));
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

  get document() { return this.source; }

  #options() { return { ...(this.model && { model: this.model }), fields: "true" }; }

  #layout() {
    const model = make("select", { "aria-label": "Model", onchange: () => { this.model = model.value; this.open(this.source); } },
      ...this.models().map((each) => make("option", { value: each.state === "serving" ? `${each.name}@${each.tag || "stable"}` : `${each.name}@${each.revision}`,
        selected: this.model.startsWith(each.name) }, `${each.name} · ${each.tag || each.state} · ${short(each.revision)}`)));
    if (this.model) model.value = this.model;
    this.modes = this.strip ? make("div", { class: "choice", role: "group", "aria-label": "Show" },
      ...["Pages", "Text"].map((name) => make("button", { type: "button", "aria-pressed": String(name === "Pages"), onclick: () => this.#mode(name) }, name))) : null;
    this.jump = make("span", { class: "jump", hidden: true });
    this.root.replaceChildren(make("div", { class: "work" },
      make("div", { class: "head" }, make("h1", {}, this.source.name), this.facts, this.jump,
        make("div", { class: "tools" }, this.modes, model,
          make("button", { type: "button", id: "copy", disabled: true, onclick: () => this.#copy() }, "Copy as…"),
          make("button", { type: "button", class: "primary", id: "another", onclick: () => this.#another() }, "Another document"))),
      this.notes, this.body, this.side));
  }

  #another() { this.abort?.abort(); this.#start(); }

  #show(answer) {
    this.answer = answer;
    const { document, timing, request } = answer;
    this.findings = new Findings(document);
    const total = document.pages ?? 1;
    this.facts.replaceChildren([document.pages && count(document.pages, "page"), count(document.tokens, "token"), document.windows > 1 && count(document.windows, "window"), ""].filter(Boolean).join(" · "), " · ",
      make("a", { href: `#requests/${encodeURIComponent(request)}`, title: "Where the time went" }, milliseconds(timing.total_ms)));
    const partly = partlyRead(document);
    if (document.unread_pages.length) this.notes.append(make("p", { class: "notice" }, `${numbered(document.unread_pages)}: not read, but for a stamp or a heading at most.`));
    if (partly.length) this.notes.append(make("p", { class: "notice" }, `${numbered(partly)}: partly read; some of it is a picture, or no text.`));
    if (this.strip) {
      this.strip.setPages(total);
      this.strip.setFindings(this.findings, document.unread_pages, partly);
      if (total > 1) this.#addJump(total);
    } else this.body.replaceChildren((this.text = new MarkedText(this.findings)).node);
    this.list = new EntityList(this.findings, { pages: total });
    this.side.replaceWith(this.list.node);
    this.side = this.list.node;
    find("#copy", this.root).disabled = false;
    this.root.dataset.request = request;
  }

  #fail(problem) {
    this.notes.replaceChildren(make("p", { class: "notice bad", role: "alert" }, problem.message));
    this.side.replaceChildren(make("div", { class: "filters" }, make("p", { class: "soft" }, "Nothing was extracted.")));
    if (!this.strip) this.body.replaceChildren(this.source.text ? make("div", { class: "text card" }, this.source.text) : "");
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

/** The numbers of the pages with text of which something was not read. */
export function partlyRead(document) {
  return [...new Set(document.partly_read.map((part) => part.page))].filter((page) => !document.unread_pages.includes(page));
}

function numbered(pages) {
  const shown = pages.slice(0, 12).join(", ") + (pages.length > 12 ? ` and ${pages.length - 12} more` : "");
  return pages.length === 1 ? `Page ${shown}` : `Pages ${shown}`;
}
