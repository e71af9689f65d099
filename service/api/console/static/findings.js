// The entities of one answer, which of them are shown, and which one is looked at. Views subscribe to both.

import { make, percent } from "./dom.js";

const HUES = 12, TONES = 3; // base.css has them; a label's tone is its hue as it is, darker, or hollow
/** Labels by slot, 12 hues a row: those of one kind of document have hues that are easily told apart. */
const KNOWN = ("SUPPLIER_NAME LINE_ITEM QUANTITY ADDRESS EMAIL MONEY TAX_ID PHONE INVOICE_ID TOTAL_AMOUNT IBAN PERSON "
  + "ORGANIZATION DATE LOCATION PERCENT INVOICE_DATE NET_AMOUNT DUE_DATE RECEIVER_NAME TAX_AMOUNT PURCHASE_ORDER BIC ID_NUMBER "
  + "EMPLOYER JOB_TITLE SKILL DEGREE SCHOOL LANGUAGE URL PARTY GOVERNING_LAW EFFECTIVE_DATE COMMERCIAL_ITEM").split(" ");

/** Label → classes of its colour: no two alike among 36 labels, and those of one model always the same. */
export function coloursOf(labels) {
  const all = new Set(labels);
  const free = Array.from({ length: HUES * TONES }, (_, slot) => slot).filter((slot) => !all.has(KNOWN[slot]));
  const others = [...all].filter((label) => !KNOWN.includes(label)).sort();
  const slot = (label) => (KNOWN.includes(label) ? KNOWN.indexOf(label) : free[others.indexOf(label) % free.length]);
  return new Map([...all].map((label) => [label, `c${slot(label) % HUES} t${Math.floor(slot(label) / HUES)}`]));
}

/** All labels of a model, by its entry in /models; [] of none. */
export const labelsOf = (model) => model?.entity_labels ?? [];

/** A box for what a model that is given its labels is to find. */
export const labelsBox = (more) => make("input", { type: "text", value: "person, organization, date, amount of money",
  "aria-label": "What to find, with commas between", title: "What to find, with commas between", ...more });

/** A text as words without case or punctuation; numbers keep their decimals where it is clear which sign divides them. */
function words(text) {
  const plain = (word) => {
    if (!/^[-+]?(?:\d{1,3}(?:[.,'’]\d{3})+(?:[.,]\d{1,2})?|\d+[.,]\d{1,2})$/.test(word)) return word.replace(/(?!^-\p{N})[^\p{L}\p{N}]/gu, "");
    if (/^[-+]?\d{1,3}[.,]\d{3}$/.test(word)) return word; // Thousands, or three decimals: nobody knows.
    return String(Number(word.replace(/[.,](\d{1,2})$/, "#$1").replace(/[.,'’]/g, "").replace("#", ".")));
  };
  return text.normalize("NFKC").toLowerCase().split(/\s+/).map(plain).filter(Boolean);
}

export const tag = (text, kind = "") => make("span", { class: `tag ${kind}` }, text);

/** Tags for what is not sure about an entity: a checksum that does not hold, several readings. */
export function doubtsOf({ valid, ambiguous }) {
  return [valid === false && tag("not valid", "bad"), ambiguous?.length > 0 && tag(`ambiguous: ${ambiguous.join(" or ")}`, "bad")].filter(Boolean);
}

/** The normalized value of an entity, where it says something that its text does not say; else nothing. */
export function ownValue({ text, value }) {
  if (!value) return "";
  const [written, normal] = [words(text), words(value)];
  const isSame = written.join("") === normal.join("") || written.sort().join(" ") === normal.sort().join(" ");
  return isSame ? "" : value;
}

/** That an entity was recognized in a picture, and how surely; nothing of others. */
export const recognized = ({ ocr_confidence: sure }) => sure != null && `recognized (OCR), ${percent(sure)} sure`;

/** Offsets of code points, as the service counts, in the units of this language's strings. */
function unitsOf(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (offset) => offset;
  const units = new Uint32Array(text.length + 1);
  let points = 0;
  for (let at = 0; at < text.length; points += 1) {
    units[points] = at;
    at += text.codePointAt(at) > 0xffff ? 2 : 1;
  }
  units[points] = text.length;
  return (offset) => units[Math.min(offset, points)];
}

export class Findings extends EventTarget {
  /** `labels`: all those of the model that answered. */
  constructor(result, labels = []) {
    super();
    this.result = result;
    this.text = result.text ?? "";
    const unit = unitsOf(this.text);
    this.entities = result.entities.map((each, index) => ({ ...each, index, from: unit(each.start), to: unit(each.end) }));
    const counts = new Map();
    for (const each of this.entities) counts.set(each.label, (counts.get(each.label) ?? 0) + 1);
    this.labels = [...counts].sort((a, b) => b[1] - a[1]);
    this.colours = coloursOf([...labels, ...counts.keys()]);
    this.filter = { hidden: new Set(), score: 0, page: null, words: "" };
    this.hovered = this.chosen = null;
  }

  colour(entity) { return this.colours.get(entity.label); }

  isShown(entity) {
    const { hidden, score, page, words } = this.filter;
    if (hidden.has(entity.label) || entity.score < score) return false;
    if (page !== null && entity.page !== page) return false;
    return !words || `${entity.text}\n${entity.value}\n${entity.label}\n${entity.note ?? ""}`.toLowerCase().includes(words);
  }

  shown() { return this.entities.filter((each) => this.isShown(each)); }

  narrow(change) {
    Object.assign(this.filter, change);
    this.dispatchEvent(new Event("filter"));
  }

  hover(index) {
    if (index === this.hovered) return;
    this.hovered = index;
    this.dispatchEvent(new Event("hover"));
  }

  choose(index, by) {
    this.chosen = index;
    this.dispatchEvent(new CustomEvent("choose", { detail: { by } }));
  }
}

/** Elements by the entity that they show, with the classes of the one that is looked at. */
export class Marks {
  #nodes = new Map();

  constructor(findings) {
    this.findings = findings;
    findings.addEventListener("hover", () => this.#move("on", findings.hovered));
    findings.addEventListener("choose", () => this.#move("chosen", findings.chosen));
  }

  clear() { this.#nodes.clear(); }

  add(index, node) {
    node.dataset.entity = index;
    this.#nodes.set(index, [...(this.#nodes.get(index) ?? []), node]);
    node.classList.toggle("chosen", index === this.findings.chosen);
    return node;
  }

  drop(index, node) {
    const left = (this.#nodes.get(index) ?? []).filter((each) => each !== node);
    if (left.length) this.#nodes.set(index, left);
    else this.#nodes.delete(index);
  }

  of(index) { return this.#nodes.get(index) ?? []; }

  #move(name, index) {
    for (const node of this.lit?.[name] ?? []) node.classList.remove(name);
    this.lit = { ...this.lit, [name]: this.of(index) };
    for (const node of this.lit[name]) node.classList.add(name);
  }

  /** Let the pointer over `root` say which entity is looked at. */
  follow(root, by) {
    const entity = (event) => event.target.closest?.("[data-entity]:not(.off)");
    root.addEventListener("pointerover", (event) => this.findings.hover(indexOf(entity(event))));
    root.addEventListener("pointerleave", () => this.findings.hover(null));
    root.addEventListener("click", (event) => {
      const node = entity(event);
      if (node) this.findings.choose(indexOf(node), by);
    });
  }
}

const indexOf = (node) => (node ? Number(node.dataset.entity) : null);
