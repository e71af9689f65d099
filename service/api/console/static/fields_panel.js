// The papers of a document: what each is, and its fields, rows, jobs and checked sums, each leading to its words on the page.

import { make, percent } from "./dom.js";
import { Marks } from "./findings.js";

const LISTS = [["skills", "Skills"], ["languages", "Languages"]];
const TABLES = [
  ["line_items", "Line items", [["description", "Item"], ["quantity", "Quantity", "number"], ["unit_price", "Price", "number"], ["amount", "Amount", "number"]]],
  ["taxes", "Taxes", [["rate", "Rate", "number"], ["base", "Of", "number"], ["amount", "Tax", "number"]]],
  ["jobs", "Jobs", [["title", "Title"], ["employer", "Employer"], ["dates", "When"]]],
  ["educations", "Education", [["degree", "Degree"], ["school", "School"], ["dates", "When"]]],
];

const WEIGHTY = "total_amount"; // what a bill's reader looks for
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
    this.marks = new Marks(findings);
    this.places = new Map(findings.entities.map((each) => [`${each.start} ${each.end}`, each]));
    this.findings = findings;
    this.node = make("div", { class: "fields", tabindex: "0", role: "region", "aria-label": "Fields" },
      ...papers.map((paper) => this.#paper(paper, papers.length > 1)));
    this.marks.follow(this.node, "fields");
  }

  #paper({ kind, title, pages, fields }, isOneOfMany) {
    const name = [kind ? words(kind) : "Paper of no known kind", title && `“${title}”`, isOneOfMany && pages && leaves(pages), fields?.currency && `in ${fields.currency}`];
    return make("section", { class: "paper" }, make(isOneOfMany ? "h2" : "p", { class: "small soft" }, name.filter(Boolean).join(", ")),
      ...(fields ? this.#fields(fields) : [make("p", { class: "small soft" }, "No bill and no résumé: without fields.")]));
  }

  #fields(fields) {
    return [
      make("div", { class: "roles" }, ...Object.entries(fields.roles).map(([name, field]) => this.#role(name, field))),
      ...(fields.checks ?? []).map(check),
      ...TABLES.map(([key, title, columns]) => fields[key]?.length > 0 && this.#table(title, columns, fields[key])),
      ...LISTS.map(([key, title]) => fields[key]?.length > 0 && this.#list(title, fields[key])),
    ];
  }

  #role(name, field) {
    const others = field.alternatives.map((each) => each.text).join(", ");
    return this.#leads(field, make("button", { type: "button", class: `role${name === WEIGHTY ? " weighty" : ""}`, title: others && `Or: ${others}` },
      make("span", { class: "small soft" }, words(name)), make("span", {}, field.value ?? field.text), make("span", { class: "score" }, percent(field.score))));
  }

  #table(title, columns, rows) {
    const cell = (found) => [found].flat().filter(Boolean).map((each, at) => [at ? " – " : "", this.#leads(each, make("span", {}, each.text))]);
    return make("section", {}, make("h3", {}, title), make("table", {},
      make("thead", {}, make("tr", {}, ...columns.map(([, head, kind]) => make("th", { scope: "col", class: kind ?? "" }, head)))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...columns.map(([key, , kind]) => make("td", { class: kind ?? "" }, ...cell(row[key]).flat(), key === "dates" && row.ongoing && " – present")))))));
  }

  #list(title, found) {
    return make("section", {}, make("h3", {}, title), make("p", {}, ...found.flatMap((each, at) => [at ? ", " : "", this.#leads(each, make("span", {}, each.text))])));
  }

  /** Let a node light up, and be lit by, the entity that it repeats. */
  #leads(field, node) {
    const entity = this.places.get(`${field.start} ${field.end}`);
    if (!entity) return node;
    node.classList.add("leads", ...this.findings.colour(entity).split(" "));
    return this.marks.add(entity.index, node);
  }
}

function leaves([first, last]) {
  return first === last ? `page ${first}` : `pages ${first} to ${last}`;
}

function check({ rule, holds, difference }) {
  const sum = rule.replaceAll("_", " ");
  return make("p", { class: `notice small${holds ? " good" : " bad"}` }, holds ? `✓ ${sum}` : `✗ ${sum} does not hold: the difference is ${difference}`);
}
