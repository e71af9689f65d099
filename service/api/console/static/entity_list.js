// The panel beside the document: its fields where the answer has some, else its entities, with filters where there are many.

import { count, make, percent } from "./dom.js";
import { FieldsPanel } from "./fields_panel.js";
import { doubtsOf, Marks, ownValue, tag } from "./findings.js";

const AT_ONCE = 150; // rows; more follow as the list is scrolled
const CHIPS = 9; // labels that show at first
const MANY = 8; // entities: more than these are worth searching in

export class EntityList {
  constructor(findings, { pages }) {
    this.findings = findings;
    this.pages = pages;
    this.marks = new Marks(findings);
    this.list = make("ol", { class: "entities", "aria-label": "Entities", tabindex: "-1" });
    this.said = make("p", { class: "small soft", role: "status" });
    this.fields = findings.result.papers?.length ? new FieldsPanel(findings) : null;
    this.filters = this.#filters();
    this.node = make("aside", { class: "card side", "aria-label": "What was found" }, this.fields && this.#switch(), this.fields?.node, this.filters, this.list);
    this.more = new IntersectionObserver((entries) => entries.some((each) => each.isIntersecting) && this.#append(), { rootMargin: "400px", scrollMargin: "400px" });
    this.marks.follow(this.list, "list");
    this.list.addEventListener("keydown", (event) => this.#step(event));
    this.list.addEventListener("focusin", (event) => {
      const row = event.target.closest(".entity");
      if (row) findings.hover(Number(row.dataset.entity));
    });
    findings.addEventListener("filter", () => this.#show());
    findings.addEventListener("choose", (event) => event.detail.by !== "list" && this.#reveal());
    this.#show();
    if (this.fields) this.#turn(this.fields.number > 0 || this.fields.isKnown);
  }

  setPage(number) {
    if (number === this.page) return;
    this.page = number;
    if (this.findings.filter.page !== null) this.findings.narrow({ page: number });
    else if (!this.list.matches(":hover, :focus-within")) this.#follow(number);
  }

  focusSearch() {
    if (!this.search.isConnected) return;
    this.#turn(false);
    this.search.focus();
  }

  #filters() {
    const { findings } = this;
    this.search = make("input", { type: "search", placeholder: "Find in text, values, labels", "aria-label": "Find among the entities", "aria-keyshortcuts": "/",
      oninput: () => findings.narrow({ words: this.search.value.trim().toLowerCase() }) });
    const level = make("output", { class: "number" }, "0 %");
    const score = make("input", { type: "range", min: 0, max: 1, step: 0.05, value: 0, "aria-label": "Minimum score",
      oninput: () => { level.textContent = percent(score.value); findings.narrow({ score: Number(score.value) }); } });
    const only = make("input", { type: "checkbox", onchange: () => findings.narrow({ page: only.checked ? this.page ?? 1 : null }) });
    const chips = findings.labels.map(([label, number]) => {
      const chip = make("button", { type: "button", class: `chip ${findings.colours.get(label)}`, "aria-pressed": "true" }, `${label} ${number}`);
      chip.addEventListener("click", (event) => this.#toggle(label, event.altKey || event.shiftKey));
      chip.dataset.label = label;
      return chip;
    });
    this.chips = chips;
    const many = findings.entities.length > MANY;
    return make("div", { class: "filters" },
      many && make("div", { class: "row" }, this.search),
      (many || this.pages > 1) && make("div", { class: "row" }, many && make("label", {}, "Minimum score", score, level), this.pages > 1 && make("label", {}, only, "This page only")),
      chips.length > 1 && make("div", { class: "chips", role: "group", "aria-label": "Labels; with Shift, one alone" }, ...chips, this.#rest(chips)),
      this.said);
  }

  /** Hide the rarer labels' chips behind one that shows them. */
  #rest(chips) {
    const rest = chips.slice(CHIPS);
    if (rest.length < 2) return null;
    for (const chip of rest) chip.hidden = true;
    const more = make("button", { type: "button", class: "chip more", onclick: () => {
      for (const chip of rest) chip.hidden = false;
      more.remove();
      rest[0].focus();
    } }, `${rest.length} more labels`);
    return more;
  }

  #switch() {
    const tab = (name, isFields) => make("button", { type: "button", "aria-pressed": "false", onclick: () => this.#turn(isFields) }, name);
    this.tabs = [tab(this.fields.number ? `Fields ${this.fields.number}` : "Fields", true), tab(`Entities ${this.findings.entities.length.toLocaleString("en")}`, false)];
    return make("div", { class: "choice", role: "group", "aria-label": "Show" }, ...this.tabs);
  }

  /** Show the fields, or the entities with their filters. */
  #turn(toFields) {
    if (!this.fields) return;
    this.fields.node.hidden = !toFields;
    this.list.hidden = this.filters.hidden = toFields;
    this.tabs.forEach((each, at) => each.setAttribute("aria-pressed", String(toFields === (at === 0))));
  }

  #toggle(label, alone) {
    const hidden = new Set(this.findings.filter.hidden);
    const all = this.findings.labels.map(([each]) => each);
    if (alone) {
      const isAlone = hidden.size === all.length - 1 && !hidden.has(label);
      hidden.clear();
      if (!isAlone) for (const each of all) if (each !== label) hidden.add(each);
    } else if (!hidden.delete(label)) hidden.add(label);
    for (const chip of this.chips) chip.setAttribute("aria-pressed", String(!hidden.has(chip.dataset.label)));
    this.findings.narrow({ hidden });
  }

  #show() {
    this.shown = this.findings.shown();
    this.marks.clear();
    this.list.replaceChildren();
    this.rows = 0;
    const all = this.findings.entities.length;
    const number = this.shown.length;
    this.said.textContent = number === all ? count(all, "entity", "entities") : `${number.toLocaleString("en")} of ${count(all, "entity", "entities")}`;
    if (!number) this.list.append(make("li", { class: "empty" }, all ? "No entity passes the filters." : "Nothing was found."));
    this.#append();
  }

  #append() {
    const rows = this.shown.slice(this.rows, this.rows + AT_ONCE);
    let page = this.rows ? this.shown[this.rows - 1].page : null;
    const nodes = [];
    for (const entity of rows) {
      if (this.pages > 1 && entity.page !== page) nodes.push(make("li", { class: "page-head" }, `Page ${entity.page}`));
      page = entity.page;
      nodes.push(make("li", {}, this.#row(entity)));
    }
    this.rows += rows.length;
    this.list.append(...nodes);
    this.more.disconnect();
    if (this.rows < this.shown.length) this.more.observe(this.list.lastElementChild);
  }

  #row(entity) {
    const value = ownValue(entity);
    const row = make("button", { type: "button", class: `entity ${this.findings.colour(entity)}` },
      make("span", { class: "swatch" }),
      make("span", { class: "what" }, entity.text.replace(/\s+/g, " "), ...tagsOf(entity)),
      make("span", { class: "score" }, percent(entity.score)),
      make("span", { class: "label" }, entity.label, entity.note && ` · ${entity.note}`, value && make("span", { class: "value" }, value)));
    return this.marks.add(entity.index, row);
  }

  /** Scroll the list to the entities of the page that is in view. */
  #follow(number) {
    const at = this.shown.findIndex((each) => each.page >= number);
    if (at < 0) return;
    while (this.rows <= at) this.#append();
    const row = this.marks.of(this.shown[at].index)[0].parentElement;
    const head = row.previousElementSibling?.matches(".page-head") ? row.previousElementSibling : row;
    this.list.scrollTop = row.offsetTop - head.offsetHeight;
  }

  #reveal() {
    const at = this.shown.findIndex((each) => each.index === this.findings.chosen);
    if (at < 0) return;
    if (this.fields && !this.fields.marks.of(this.findings.chosen).length) this.#turn(false);
    while (this.rows <= at) this.#append();
    this.marks.of(this.findings.chosen)[0]?.classList.add("chosen");
    this.marks.of(this.findings.chosen)[0]?.scrollIntoView({ block: "nearest" });
  }

  #step(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    const rows = [...this.list.querySelectorAll(".entity")];
    const next = rows[rows.indexOf(document.activeElement) + by];
    if (next) { next.focus(); event.preventDefault(); }
  }
}

function tagsOf(entity) {
  const tags = doubtsOf(entity);
  if (entity.valid === true) tags.push(tag("valid"));
  if (entity.source && entity.source !== "model") tags.push(tag(String(entity.source)));
  return tags;
}
