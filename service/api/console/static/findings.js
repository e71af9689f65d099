// The entities of one answer, which of them are shown, and which one is looked at. Views subscribe to both.

const COLOURS = 12;

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
  constructor(result) {
    super();
    this.result = result;
    this.text = result.text ?? "";
    const unit = unitsOf(this.text);
    this.entities = result.entities.map((each, index) => ({ ...each, index, from: unit(each.start), to: unit(each.end) }));
    const counts = new Map();
    for (const each of this.entities) counts.set(each.label, (counts.get(each.label) ?? 0) + 1);
    this.labels = [...counts].sort((a, b) => b[1] - a[1]);
    this.colours = new Map(this.labels.map(([label], at) => [label, `c${at % COLOURS}`]));
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
