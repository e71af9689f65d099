// A document's text with its entities marked in it.

import { make, percent, tip } from "./dom.js";
import { Marks, ownValue, recognized } from "./findings.js";

const PIECE = 6_000; // characters; the browser lays out only the pieces that show
const GAP = /\S(?: {3,}|\t+)\S/; // within a line: the next column begins
const LONGEST = 160; // characters of a line that may stand in one

/** Whether a text has columns, which stand below each other only if all letters are equally wide. */
export function hasColumns(text) {
  const lines = text.split("\n");
  return lines.filter((line) => GAP.test(line)).length >= 3 && lines.every((line) => line.length <= LONGEST);
}

export class MarkedText {
  constructor(findings) {
    this.findings = findings;
    this.marks = new Marks(findings);
    this.node = make("div", { class: `text card${hasColumns(findings.text) ? " columns mono" : ""}`, tabindex: "0", role: "region", "aria-label": "Text" });
    this.nodes = [];
    this.#write();
    this.marks.follow(this.node, "text");
    findings.addEventListener("filter", () => this.#filter());
    findings.addEventListener("choose", (event) => event.detail.by !== "text" && this.goTo(findings.chosen));
    this.node.addEventListener("pointermove", (event) => this.#tip(event));
    this.node.addEventListener("pointerleave", () => tip.hide());
    this.#filter();
  }

  goTo(index) {
    if (this.node.isConnected) this.marks.of(index)[0]?.scrollIntoView({ block: "center", behavior: "instant" });
  }

  #write() {
    const { text, entities } = this.findings;
    let piece = make("div", { class: "piece" }), length = 0, at = 0;
    const plain = (end) => {
      while (at < end) {
        const line = text.indexOf("\n", at + Math.max(PIECE - length, 0));
        const stop = line >= 0 && line < end ? line + 1 : end;
        piece.append(text.slice(at, stop));
        length += stop - at;
        at = stop;
        if (length >= PIECE && text[stop - 1] === "\n") this.#next(piece, (piece = make("div", { class: "piece" })), (length = 0));
      }
    };
    for (const entity of entities) {
      if (entity.from < at) continue;
      plain(entity.from);
      const mark = make("mark", { class: this.findings.colour(entity) }, text.slice(entity.from, entity.to));
      piece.append(this.marks.add(entity.index, mark));
      this.nodes.push([entity, mark]);
      length += entity.to - entity.from;
      at = entity.to;
    }
    plain(text.length);
    this.#next(piece);
  }

  #next(piece) { this.node.append(piece); }

  #filter() {
    for (const [entity, mark] of this.nodes) mark.classList.toggle("off", !this.findings.isShown(entity));
  }

  #tip(event) {
    const mark = event.target.closest?.("mark:not(.off)");
    if (!mark) return tip.hide();
    const entity = this.findings.entities[Number(mark.dataset.entity)];
    tip.show(event, `${entity.label} · ${percent(entity.score)}`, recognized(entity), entity.note, ownValue(entity) && `= ${ownValue(entity)}`);
  }
}
