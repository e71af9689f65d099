// The papers of a document: what each is, and its fields, rows, jobs and checked sums, each leading to its words on the page.

import { amount, make, percent } from "./dom.js";
import { doubtsOf, Marks, tag } from "./findings.js";

const LISTS = [["skills", "Skills"], ["languages", "Languages"]];
const TABLES = [
  ["line_items", "Line items", [["description", "Item"], ["quantity", "Quantity", "number"], ["unit_price", "Price", "number"], ["amount", "Amount", "number"]]],
  ["taxes", "Taxes", [["rate", "Rate", "number"], ["base", "Of", "number"], ["amount", "Tax", "number"]]],
  ["parties", "Parties", [["name", "Name"], ["called", "Called"]]],
  ["jobs", "Jobs", [["title", "Title"], ["employer", "Employer"], ["dates", "When"]]],
  ["educations", "Education", [["degree", "Degree"], ["school", "School"], ["dates", "When"]]],
];

const WEIGHTY = new Set(["total_amount", "amount_due"]); // what a bill's reader looks for
const SUREST = 0.99; // nothing that was read is certain
const INITIALS = new Set(["iban", "bic", "id", "url"]);

/** A name of the interface, such as `tax_id`, as people write it. */
export function words(name) {
  const all = name.split("_").map((each) => (INITIALS.has(each) ? each.toUpperCase() : each)).join(" ");
  return all.charAt(0).toUpperCase() + all.slice(1);
}

export class FieldsPanel {
  constructor(findings) {
    const { papers } = findings.result;
    this.number = papers.reduce((sum, { fields }) => sum + Object.keys(fields?.roles ?? {}).length, 0);
    this.isKnown = papers.some(({ kind }) => kind);
    this.marks = new Marks(findings);
    this.places = new Map(findings.entities.map((each) => [`${each.start} ${each.end}`, each]));
    this.findings = findings;
    this.node = make("div", { class: "fields", tabindex: "0", role: "region", "aria-label": "Fields" },
      ...papers.map((paper) => this.#paper(paper, papers.length > 1)));
    this.marks.follow(this.node, "fields");
  }

  #paper({ kind, title, pages, fields }, isOneOfMany) {
    const name = [kind ? words(kind) : "Paper of no known kind", title && `“${title}”`, isOneOfMany && pages && leaves(pages), fields?.currency && `in ${fields.currency}`, fields?.embedded && "as its XML states it"];
    return make("section", { class: "paper" }, make(isOneOfMany ? "h2" : "p", { class: "small soft" }, name.filter(Boolean).join(", ")),
      ...(fields ? this.#fields(fields, isOneOfMany ? "h3" : "h2") : [make("p", { class: "small soft" }, "No bill, contract or résumé: without fields.")]));
  }

  /** `heading`: of the tables and lists, one level below that of the paper. */
  #fields(fields, heading) {
    return [
      fields.kind === "credit_note" && make("p", { class: "notice small" }, "A credit note: nothing is to be paid."),
      ...(fields.embedded?.contradictions ?? []).map(contradiction),
      make("div", { class: "roles" }, ...Object.entries(fields.roles).map(([name, field]) => this.#role(name, field))),
      ...(fields.checks ?? []).map(check),
      ...TABLES.map(([key, title, columns]) => fields[key]?.length > 0 && this.#table(make(heading, {}, title), columns, fields[key], fields.currency)),
      ...LISTS.map(([key, title]) => fields[key]?.length > 0 && this.#list(make(heading, {}, title), fields[key])),
      !fields.embedded && Object.values(fields.roles).some(({ evidence }) => evidence) && make("p", { class: "small soft" }, "The percentage says how likely a value is right in its role, by all that speaks for it: "
        + "label, words before it, place, sums. In the list of entities it is the model’s alone, for the label. Point at a value to see both."),
    ];
  }

  #role(name, field) {
    return this.#leads(field, make("button", { type: "button", class: `role${WEIGHTY.has(name) ? " weighty" : ""}`, title: reasons(field, this.#entityOf(field)) },
      make("span", { class: "small soft" }, words(name)), make("span", {}, shown(field), ...doubtsOf(field), ...originOf(field)),
      make("span", { class: "score" }, percent(field.source === "embedded" ? field.score : Math.min(field.score, SUREST)))));
  }

  #table(title, columns, rows, currency) {
    const cell = (found) => [found].flat().filter(Boolean).map((each, at) => [at ? " – " : "", this.#leads(each, make("span", {}, inCell(each, currency)))]);
    return make("section", {}, title, make("table", {},
      make("thead", {}, make("tr", {}, ...columns.map(([, head, kind]) => make("th", { scope: "col", class: kind ?? "" }, head)))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...columns.map(([key, , kind]) => make("td", { class: kind ?? "" }, ...cell(row[key]).flat(), key === "dates" && row.ongoing && " – present")))))));
  }

  #list(title, found) {
    return make("section", {}, title, make("p", {}, ...found.flatMap((each, at) => [at ? ", " : "", this.#leads(each, make("span", {}, each.text))])));
  }

  /** Let a node light up, and be lit by, the entity that it repeats. */
  #leads(field, node) {
    const entity = this.#entityOf(field);
    if (!entity) return node;
    node.classList.add("leads", ...this.findings.colour(entity).split(" "));
    return this.marks.add(entity.index, node);
  }

  #entityOf(field) { return this.places.get(`${field.start} ${field.end}`); }
}

function leaves([first, last]) {
  return first === last ? `page ${first}` : `pages ${first} to ${last}`;
}

/** A field as it is shown; a résumé's names have no other value than their text. */
function shown({ kind, value, text, number, unit }) {
  if (kind === "money" && number) return amount(number, unit);
  return kind === "percent" ? `${value} %` : value ?? text;
}

/** An amount without the currency of its bill, a rate, or a text as it is written; its value where the page lacks it. */
function inCell(field, currency) {
  if (field.kind === "money" && field.number) return amount(field.number, field.unit === currency ? null : field.unit);
  return field.kind === "money" || field.kind === "percent" ? shown(field) : field.text || field.value;
}

/** Tags for a value that stands nowhere on the page, or has not the label of its role. */
function originOf({ text, source, reason }) {
  if (!text) return [tag(source === "embedded" ? "not on the page" : "computed")];
  return reason === "context" ? [tag("by the words beside it")] : [];
}

/** What speaks for and against a value, the other ones, and what the model says of its words. */
function reasons({ alternatives, evidence = {} }, entity) {
  const names = (isFor) => Object.entries(evidence).filter(([, weight]) => (isFor ? weight > 0 : weight < 0)).map(([name]) => name).join(", ");
  const lines = [["For it", names(true)], ["Against it", names(false)], ["Or", alternatives.map((each) => each.text).join(", ")],
    [`As ${entity?.label} among the entities`, entity && percent(entity.score)]];
  return lines.filter(([, said]) => said).map(([head, said]) => `${head}: ${said}`).join("\n");
}

function contradiction({ role, embedded, page }) {
  return make("p", { class: "notice small bad" }, `✗ ${words(role)}: the page says ${page.text.replace(/\s+/g, " ")}, the XML ${embedded}`);
}

function check({ rule, holds, difference, lines = [] }) {
  const amounts = lines.map(({ name, amount }) => `${name.replaceAll("_", " ")} ${amount}`).join(", ");
  const sum = `${rule.replaceAll("_", " ")}${amounts && ` (${amounts})`}`;
  return make("p", { class: `notice small${holds ? " good" : " bad"}` }, holds ? `✓ ${sum}` : `✗ ${sum} does not hold: the difference is ${difference}`);
}
