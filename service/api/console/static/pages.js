// The pages of a PDF, a picture or a file of words, drawn by the service when they come near, with the entities' boxes over them.

import { picture } from "./api.js";
import { draw, make, percent, tip } from "./dom.js";
import { Marks, ownValue, recognized } from "./findings.js";

const AT_ONCE = 2;
const KEPT = 24; // pictures; those farthest away are dropped
const NEAR = "1200px 0px";
const TOP = 120, BOTTOM = 60; // pixels of the window in which a box hides behind the head, or is about to leave
const REASONS = { image: "a picture", outlines: "letters that are drawn as lines", unmapped: "letters of a font that does not say which they are" };
const A4 = { width: 595.28, height: 841.89 };

class Page {
  constructor(number, size) {
    this.number = number;
    this.size = size;
    this.boxes = draw("svg", { "aria-hidden": "true", preserveAspectRatio: "none" });
    this.waiting = make("div", { class: "waiting" }, `Page ${number}`);
    this.sheet = make("div", { class: "sheet" }, this.waiting, this.boxes);
    this.node = make("figure", { class: "page", "data-page": number }, this.sheet, make("figcaption", {}, String(number)));
    this.fit(size);
  }

  fit(size) {
    this.size = size;
    this.sheet.style.aspectRatio = `${size.width} / ${size.height}`;
    this.boxes.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
  }

  show(drawn, pages) {
    this.fit(drawn);
    this.url = drawn.url;
    this.image = make("img", { src: drawn.url, alt: `Page ${this.number} of ${pages}`, decoding: "async" });
    this.waiting.replaceWith(this.image);
  }

  drop() {
    if (!this.url) return;
    URL.revokeObjectURL(this.url);
    this.url = undefined;
    this.image.replaceWith(this.waiting);
  }

  say(sentence) { this.waiting.textContent = sentence; }
}

export class PageStrip {
  constructor(source, { onPage = () => {}, onFailed = () => {} } = {}) {
    this.source = source;
    this.onPage = onPage;
    this.onFailed = onFailed;
    this.node = make("div", { class: "strip" });
    this.pages = [];
    this.near = new Set();
    this.drawing = new Map();
    this.current = 1;
    this.seen = new IntersectionObserver((entries) => this.#move(entries), { rootMargin: NEAR });
    this.setPages(1);
  }

  /** Make room for so many pages; their true sizes come with the answer, or with their pictures. */
  setPages(number, sizes = []) {
    const size = this.pages[0]?.size ?? A4;
    const added = [];
    while (this.pages.length < number) {
      const page = new Page(this.pages.length + 1, size);
      this.pages.push(page);
      added.push(page.node);
    }
    this.node.append(...added);
    for (const node of added) this.seen.observe(node);
    sizes.forEach(([width, height], at) => this.pages[at].url || this.pages[at].fit({ width, height }));
  }

  /** `unread`: numbers of the pages that were not read; `parts`: what was not read on others, with boxes and reasons. */
  setFindings(findings, unread, parts) {
    this.findings = findings;
    this.marks = new Marks(findings);
    this.marks.follow(this.node, "page");
    this.byPage = grouped(findings.entities);
    this.unreadByPage = grouped(parts);
    for (const number of unread) {
      this.#say(number, `This page could not be read: it is ${reasons(this.unreadByPage.get(number)) || "a picture"}`);
      this.pages[number - 1]?.sheet.classList.add("not-read");
    }
    for (const [number, found] of this.unreadByPage) if (!unread.includes(number)) this.#say(number, `The dashed part could not be read: it is ${reasons(found)}`);
    for (const page of this.pages) page.framed = undefined;
    findings.addEventListener("filter", () => this.#frameAll());
    findings.addEventListener("choose", (event) => event.detail.by !== "page" && this.goTo(findings.chosen));
    this.node.addEventListener("pointermove", (event) => this.#tip(event));
    this.node.addEventListener("pointerleave", () => tip.hide());
    this.#frameAll();
  }

  /** Whether no page can be drawn, as of a locked file. */
  get isBlank() { return this.pages.every((page) => page.failed); }

  goTo(index) {
    const entity = this.findings.entities[index];
    if (!entity?.page) return;
    const page = this.pages[entity.page - 1];
    const top = page.node.getBoundingClientRect().top + scrollY;
    const within = entity.boxes.length ? (entity.boxes[0][1] / page.size.height) * page.sheet.clientHeight : 0;
    const shown = top + within - scrollY;
    if (entity.boxes.length && shown > TOP && shown < innerHeight - BOTTOM) return;
    scrollTo({ top: Math.max(top + within - innerHeight / 3, 0), behavior: "instant" });
  }

  goToPage(number) {
    const page = this.pages[Math.min(Math.max(number, 1), this.pages.length) - 1];
    page.node.scrollIntoView({ block: "start", behavior: "instant" });
  }

  close() {
    this.seen.disconnect();
    for (const abort of this.drawing.values()) abort.abort();
    for (const page of this.pages) page.drop();
    tip.hide();
  }

  #move(entries) {
    for (const entry of entries) {
      const number = Number(entry.target.dataset.page);
      if (entry.isIntersecting) this.near.add(number);
      else { this.near.delete(number); this.drawing.get(number)?.abort(); }
    }
    this.noteScroll();
    this.#frameAll();
    this.#drawNext();
  }

  #byDistance() {
    const middle = innerHeight / 2;
    const away = (number) => {
      const box = this.pages[number - 1].node.getBoundingClientRect();
      return Math.max(box.top - middle, middle - box.bottom, 0);
    };
    return [...this.near].map((number) => [away(number), number]).sort((a, b) => a[0] - b[0]).map(([, number]) => number);
  }

  noteScroll() {
    const [number] = this.#byDistance();
    if (number && number !== this.current) {
      this.current = number;
      this.onPage(number);
    }
  }

  async #drawNext() {
    const next = this.#byDistance().find((number) => !this.pages[number - 1].url && !this.drawing.has(number) && !this.pages[number - 1].failed);
    if (next === undefined || this.drawing.size >= AT_ONCE) return;
    const abort = new AbortController();
    this.drawing.set(next, abort);
    this.#drawNext();
    const page = this.pages[next - 1];
    try {
      const wide = Math.min(Math.ceil(((page.sheet.clientWidth || 800) * Math.min(devicePixelRatio, 2)) / 200) * 200, 2000);
      const drawn = await picture(this.source, next, wide, abort.signal);
      this.known = drawn.pages;
      this.setPages(drawn.pages);
      page.show(drawn, drawn.pages);
      this.#frame(page, true);
      this.#forget();
      this.onPage(this.current);
    } catch (problem) {
      if (problem.name !== "AbortError") {
        page.failed = true;
        page.say(problem.message);
        this.onFailed(problem);
      }
    }
    this.drawing.delete(next);
    this.#drawNext();
  }

  #forget() {
    const drawn = this.pages.filter((page) => page.url && !this.near.has(page.number));
    const over = this.pages.filter((page) => page.url).length - KEPT;
    drawn.sort((a, b) => Math.abs(b.number - this.current) - Math.abs(a.number - this.current));
    for (const page of drawn.slice(0, Math.max(over, 0))) page.drop();
  }

  #frameAll() {
    for (const page of this.pages) {
      if (this.near.has(page.number)) this.#frame(page, true);
      else if (page.framed) this.#clear(page);
    }
  }

  #clear(page) {
    for (const box of page.boxes.querySelectorAll("[data-entity]")) this.marks.drop(Number(box.dataset.entity), box);
    page.boxes.replaceChildren();
    page.framed = false;
  }

  #frame(page, anew) {
    if (!this.findings || (page.framed && !anew)) return;
    this.#clear(page);
    for (const { reason, boxes } of this.unreadByPage.get(page.number) ?? []) {
      for (const [left, top, right, bottom] of boxes) {
        page.boxes.append(draw("rect", { class: "unread-box", "data-reason": reason, x: left, y: top, width: right - left, height: bottom - top }));
      }
    }
    for (const entity of this.byPage.get(page.number) ?? []) {
      if (!this.findings.isShown(entity)) continue;
      for (const [left, top, right, bottom] of entity.boxes) {
        const room = 1.5 * Math.max(page.size.width, page.size.height) / A4.height;
        const box = draw("rect", { class: `box ${this.findings.colour(entity)}`, x: left - room, y: top - room,
          width: right - left + 2 * room, height: bottom - top + 2 * room, rx: room });
        page.boxes.append(this.marks.add(entity.index, box));
      }
    }
    page.framed = true;
  }

  #say(number, sentence) {
    this.pages[number - 1]?.sheet.append(make("p", { class: "unread" }, sentence));
  }

  #tip(event) {
    const { reason } = event.target.dataset ?? {};
    if (reason) return tip.show(event, "Not read", `This part is ${REASONS[reason] ?? reason}.`);
    const box = event.target.closest?.(".box");
    if (!box) return tip.hide();
    const entity = this.findings.entities[Number(box.dataset.entity)];
    tip.show(event, `${entity.label} · ${percent(entity.score)}`, entity.text, recognized(entity), entity.note, ownValue(entity) && `= ${ownValue(entity)}`);
  }
}

/** Why parts were not read, in words. */
const reasons = (parts = []) => [...new Set(parts.map((each) => REASONS[each.reason] ?? each.reason))].join(", or ");

function grouped(entities) {
  const found = new Map();
  for (const each of entities) found.set(each.page, [...(found.get(each.page) ?? []), each]);
  return found;
}
