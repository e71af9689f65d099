// Two models, or two revisions of one, on the same document: what only one finds, and where they differ.

import { extract } from "./api.js";
import { count, find, make, milliseconds, short } from "./dom.js";
import { partlyRead } from "./document_view.js";
import { EntityList } from "./entity_list.js";
import { Findings } from "./findings.js";
import { MarkedText } from "./marked_text.js";
import { PageStrip } from "./pages.js";
import { SAMPLES, sampleSource } from "./source.js";

const SAME = "Same", DIFFERS = "Differs", ONLY_A = "Only in A", ONLY_B = "Only in B";
const COLOURS = new Map([[DIFFERS, "c1"], [ONLY_A, "c0"], [ONLY_B, "c3"], [SAME, "c10"]]);

/** The entities of both answers as one list, each labelled by who found it. */
export function compared(a, b) {
  const left = new Set(b);
  const at = (one, other) => one.start === other.start && one.end === other.end;
  const touches = (one, other) => one.start < other.end && other.start < one.end;
  const said = (one, others) => others.map((each) => `${each.label}${at(one, each) ? "" : ` “${each.text}”`}`).join(", ");
  const found = a.map((one) => {
    const near = b.filter((other) => touches(one, other));
    for (const other of near) left.delete(other);
    if (!near.length) return { ...one, label: ONLY_A, value: "", note: one.label };
    if (at(one, near[0]) && one.label === near[0].label) return { ...one, label: SAME, value: "", note: one.label };
    return { ...one, label: DIFFERS, value: "", note: `A ${one.label}, B ${said(one, near)}` };
  });
  for (const other of left) found.push({ ...other, label: ONLY_B, value: "", note: other.label });
  return found.sort((one, other) => one.start - other.start || one.end - other.end);
}

const name = (each) => (each.state === "serving" ? `${each.name}@${each.tag || "stable"}` : `${each.name}@${each.revision}`);

export class View {
  constructor(root, { models, documents }) {
    Object.assign(this, { root, models, documents });
    this.a = this.#choice("A");
    this.b = this.#choice("B");
    this.go = make("button", { type: "submit", class: "primary" }, "Compare");
    this.what = make("span", { class: "facts" });
    this.result = make("div", { class: "work" });
    root.replaceChildren(make("form", { class: "head compare-head", onsubmit: (event) => { event.preventDefault(); this.#compare(); } },
      make("h1", {}, "Compare"), this.a.label, this.b.label, this.go, this.what), this.result);
    addEventListener("scroll", () => this.strip?.noteScroll(), { passive: true });
  }

  enter() {
    for (const { input, list } of [this.a, this.b]) {
      list.replaceChildren(...this.models().map((each) => make("option", { value: name(each) }, `${each.name} · ${each.tag || each.state} · ${short(each.revision)}`)));
      if (!input.value && this.models().length) input.value = name(this.models().at(input === this.a.input ? 0 : -1));
    }
    this.source = this.documents.document ?? this.source;
    this.#sayWhat();
  }

  leave() { this.abort?.abort(); }

  #choice(letter) {
    const list = make("datalist", { id: `revisions-${letter}` });
    const input = make("input", { list: list.id, placeholder: "name@tag or name@sha256:…", spellcheck: "false" });
    return { input, list, label: make("label", { class: "side-choice" }, make("b", {}, letter), input, list) };
  }

  #sayWhat() {
    if (this.source) return this.what.replaceChildren("on ", make("b", {}, this.source.name));
    this.what.replaceChildren("on a sample: ", ...SAMPLES.map(([file, title]) => make("button", { type: "button", "data-sample": file, onclick: async () => { this.source = await sampleSource(file); this.#sayWhat(); this.#compare(); } }, title)));
  }

  async #compare() {
    if (!this.source) return;
    this.abort?.abort();
    const abort = this.abort = new AbortController();
    this.strip?.close();
    this.result.replaceChildren(make("div", { class: "progress" }));
    try {
      const answers = [];
      for (const { input } of [this.a, this.b]) answers.push(await extract(this.source, { model: input.value.trim() }, abort.signal));
      this.#show(...answers);
    } catch (problem) {
      if (problem.name !== "AbortError") this.result.replaceChildren(make("p", { class: "notice bad", role: "alert" }, problem.message));
    }
  }

  #show(a, b) {
    const entities = compared(a.document.entities, b.document.entities);
    const findings = new Findings({ ...a.document, entities, fields: null });
    findings.colours = COLOURS;
    findings.labels = [...COLOURS.keys()].map((label) => [label, entities.filter((each) => each.label === label).length]).filter(([, number]) => number);
    const pages = a.document.pages ?? 1;
    this.strip = this.source.isPdf ? new PageStrip(this.source, { onPage: (number) => list.setPage(number) }) : null;
    this.strip?.setPages(pages);
    this.strip?.setFindings(findings, a.document.unread_pages, partlyRead(a.document));
    const list = new EntityList(findings, { pages });
    const tell = (letter, answer) => make("p", {}, make("b", {}, letter), ` ${answer.model.name} `, make("span", { class: "mono" }, short(answer.model.revision)), ` · ${count(answer.document.entities.length, "entity", "entities")} · ${milliseconds(answer.timing.total_ms)}`);
    const same = a.model.revision === b.model.revision && make("p", { class: "soft small" }, "Both names lead to the same revision.");
    this.result.replaceChildren(make("div", { class: "notes compare-facts" }, tell("A", a), tell("B", b), same), make("div", { class: "body" }, this.strip?.node ?? new MarkedText(findings).node), list.node);
    if (findings.labels.some(([label]) => label !== SAME)) find(`[data-label="${SAME}"]`, list.node)?.click();
    this.root.dataset.compared = entities.length;
  }
}
