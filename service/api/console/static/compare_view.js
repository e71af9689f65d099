// Two models, or two revisions of one, on the same document: what only one finds, and where they differ.

import { extract } from "./api.js";
import { count, find, make, milliseconds, short } from "./dom.js";
import { EntityList } from "./entity_list.js";
import { failure } from "./failure.js";
import { Findings, labelsBox } from "./findings.js";
import { MarkedText } from "./marked_text.js";
import { PageStrip } from "./pages.js";
import { fileSource, preview } from "./source.js";
import { dropZone, samples } from "./start_view.js";

const SAME = "Same", DIFFERS = "Differs", ONLY_A = "Only in A", ONLY_B = "Only in B";
const COLOURS = new Map([[DIFFERS, "c1"], [ONLY_A, "c0"], [ONLY_B, "c3"], [SAME, "c10"]]);
const MEANINGS = [[DIFFERS, "both find it, but name or cut it differently"], [ONLY_A, "A finds it, B does not"], [ONLY_B, "B finds it, A does not"],
  [SAME, "both find it, with the same label and the same ends"]];
const OTHER = ""; // the choice of a revision that is not among those served

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
    this.a = this.#choice("A", "what is served now");
    this.b = this.#choice("B", "what may take its place");
    this.labels = labelsBox({ hidden: true });
    this.go = make("button", { type: "submit", class: "primary" }, "Compare");
    this.what = make("span", { class: "facts" });
    this.result = make("div", { class: "work" });
    this.hint = make("p", { class: "soft small compare-hint" });
    root.replaceChildren(make("form", { class: "head compare-head", onsubmit: (event) => { event.preventDefault(); this.#compare(); } },
      make("div", { class: "why" }, make("h1", {}, "Compare two models on one document"), make("p", { class: "soft" },
        "For the question whether a new revision of a model may take the place of the one that is served: what only one of them finds, and where they differ.")),
      this.a.label, this.b.label, this.labels, this.go, this.what, this.hint), this.result);
    document.addEventListener("models", () => this.#offer());
    addEventListener("scroll", () => this.strip?.noteScroll(), { passive: true });
  }

  enter() {
    this.source = this.documents.document ?? this.source;
    this.#offer();
    if (!this.root.dataset.compared || this.shown !== this.source) this.#beforehand();
  }

  #offer() {
    for (const choice of [this.a, this.b]) choice.offer(this.models());
    this.#sayWhat();
  }

  leave() { this.abort?.abort(); }

  #isGivenLabels(wanted) { return this.models().find((each) => [name(each), each.name, `${each.name}@${each.revision}`].includes(wanted))?.free_labels; }

  /** A choice among the models that are served, or of another revision by its name. */
  #choice(letter, what) {
    const other = make("input", { placeholder: "name@tag or name@sha256:…", spellcheck: "false", hidden: true, "aria-label": `${letter}: the name of another revision`, oninput: () => this.#sayWhat() });
    const list = make("select", { onchange: () => { other.hidden = list.value !== OTHER; if (!other.hidden) other.focus(); this.#sayWhat(); } });
    const offer = (models) => {
      const before = list.value;
      list.replaceChildren(...models.map((each) => make("option", { value: name(each) }, `${each.name} · ${each.tag || each.state} · ${short(each.revision)}`)),
        make("option", { value: OTHER }, "Another revision …"));
      const isKept = before ? models.some((each) => name(each) === before) : !other.hidden;
      list.value = isKept || !models.length ? before : name(models.at(letter === "A" ? 0 : -1));
    };
    return { offer, get model() { return list.value === OTHER ? other.value.trim() : list.value; },
      label: make("div", { class: "side-choice" }, make("label", {}, make("span", {}, make("b", {}, letter), ` – ${what}`), list), other) };
  }

  /** Compare on this document. */
  take(source) {
    this.source = source;
    this.#sayWhat();
    this.#compare();
  }

  /** What shows until there is something to compare: the document, or the place to drop one, and what will be told. */
  async #beforehand() {
    const { source } = this;
    const turn = this.turn = {};
    this.strip?.close();
    this.strip = source?.isDrawn ? new PageStrip(source) : null;
    delete this.root.dataset.compared;
    const text = source && !this.strip && make("div", { class: "text card soft" }, await preview(source));
    if (turn !== this.turn) return; // another document, or its comparison, shows by now
    const take = (chosen) => this.take(chosen);
    const shown = source ? [this.strip?.node ?? text] : [dropZone(take, "Drop a document to compare on"), samples(take)];
    this.result.replaceChildren(make("div", { class: "body" }, ...shown),
      make("aside", { class: "card what-comes" }, make("h2", {}, "What will be told"), make("dl", {}, ...MEANINGS.flatMap(([label, meaning]) =>
        [make("dt", {}, make("span", { class: `swatch ${COLOURS.get(label)}` }), label), make("dd", { class: "soft" }, meaning)]))));
  }

  /** The document, or the ways to one; and what is still to be chosen before a comparison says anything. */
  #sayWhat() {
    const file = make("input", { type: "file", hidden: true, "aria-label": "A file to compare on", onchange: () => file.files[0] && this.take(fileSource(file.files[0])) });
    const other = make("button", { type: "button", onclick: () => file.click() }, "Another file");
    this.what.replaceChildren(...(this.source ? ["on ", make("b", {}, this.source.name), other, file] : []));
    this.labels.hidden = ![this.a, this.b].some(({ model }) => this.#isGivenLabels(model));
    const isSame = this.a.model === this.b.model;
    this.go.disabled = !this.source || !this.a.model || !this.b.model;
    this.hint.replaceChildren(...(isSame ? ["A and B are the same, so nothing can differ. ", ...(this.models().length > 1 ? ["Choose another model for one of them."]
      : ["Only one model is served: choose another revision, and name it as ", make("code", {}, "name@sha256:…"), ", or serve a second one (", make("code", {}, "GLEANER_MODELS"), ")."])] : []));
  }

  async #compare() {
    if (!this.source) return;
    this.abort?.abort();
    this.turn = {};
    const abort = this.abort = new AbortController();
    this.strip?.close();
    this.result.replaceChildren(make("div", { class: "progress" }));
    try {
      const answers = [];
      for (const { model } of [this.a, this.b])
        answers.push(await extract(this.source, { model, ...(this.#isGivenLabels(model) && { labels: this.labels.value }) }, abort.signal));
      this.#show(...answers);
    } catch (problem) {
      if (problem.name !== "AbortError") this.result.replaceChildren(failure(problem));
    }
  }

  #show(a, b) {
    const entities = compared(a.document.entities, b.document.entities);
    const findings = new Findings({ ...a.document, entities, fields: null });
    findings.colours = COLOURS;
    findings.labels = [...COLOURS.keys()].map((label) => [label, entities.filter((each) => each.label === label).length]).filter(([, number]) => number);
    const pages = a.document.pages ?? 1;
    this.strip = a.document.page_sizes ? new PageStrip(this.source, { onPage: (number) => list.setPage(number) }) : null;
    this.strip?.setPages(pages, a.document.page_sizes);
    this.strip?.setFindings(findings, a.document.unread_pages, a.document.partly_read);
    const list = new EntityList(findings, { pages });
    const tell = (letter, answer) => make("p", {}, make("b", {}, letter), ` ${answer.model.name} `, make("span", { class: "mono" }, short(answer.model.revision)), ` · ${count(answer.document.entities.length, "entity", "entities")} · ${milliseconds(answer.timing.total_ms)}`);
    const same = a.model.revision === b.model.revision && make("p", { class: "soft small" }, "Both names lead to the same revision.");
    this.result.replaceChildren(make("div", { class: "notes compare-facts" }, tell("A", a), tell("B", b), same), make("div", { class: "body" }, this.strip?.node ?? new MarkedText(findings).node), list.node);
    if (findings.labels.some(([label]) => label !== SAME)) find(`[data-label="${SAME}"]`, list.node)?.click();
    this.root.dataset.compared = entities.length;
    this.shown = this.source;
  }
}
