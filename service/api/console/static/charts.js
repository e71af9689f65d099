// Small charts of the last minutes, drawn as SVG when something new comes; no library, no animation.

import { draw, make } from "./dom.js";

const ROOM = { left: 46, right: 10, top: 10, bottom: 20 };

/** The next of 1, 2, 5, 10, … at or above a value. */
export function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= value * 0.999);
}

export class LineChart {
  /** `series`: [[name, class]]; `marks`: name → level, drawn as lines; `least`, `most`: of the scale's top. */
  constructor({ title, series, seconds = 120, least = 1, most = Infinity, format = String, height = 170 }) {
    Object.assign(this, { series, seconds, least, most, format, height });
    this.points = [];
    this.marks = {};
    this.svg = draw("svg", { class: "chart", role: "img", "aria-label": title });
    this.legend = make("p", { class: "legend small" });
    this.node = make("figure", {}, this.svg, this.legend);
  }

  add(at, values) {
    this.points.push([at, values]);
    while (this.points.length && this.points[0][0] < at - this.seconds) this.points.shift();
    this.#draw();
  }

  /** The highest value that is shown; 0 of none. */
  get highest() { return Math.max(0, ...this.points.flatMap(([, values]) => values.map((each) => each ?? 0))); }

  #draw() {
    const wide = this.svg.clientWidth || 500, high = this.height;
    this.svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    const now = this.points.at(-1)[0];
    const highest = Math.max(this.least, this.highest);
    const top = Math.min(highest <= this.least ? this.least : roundUp(highest), this.most), beyond = highest > top;
    const x = (at) => wide - ROOM.right - ((now - at) / this.seconds) * (wide - ROOM.left - ROOM.right);
    const y = (value) => high - ROOM.bottom - (Math.min(value, top) / top) * (high - ROOM.top - ROOM.bottom);
    const parts = [];
    for (const share of [0, 0.5, 1]) {
      parts.push(draw("line", { class: "grid", x1: ROOM.left, x2: wide - ROOM.right, y1: y(top * share), y2: y(top * share) }),
        draw("text", { class: "axis", x: ROOM.left - 6, y: y(top * share) + 4, "text-anchor": "end" }, `${this.format(top * share)}${beyond && share === 1 ? "+" : ""}`));
    }
    for (const ago of [0, this.seconds / 2, this.seconds]) {
      parts.push(draw("text", { class: "axis", x: x(now - ago), y: high - 4, "text-anchor": ago ? (ago === this.seconds ? "start" : "middle") : "end" }, ago ? `${ago} s ago` : "now"));
    }
    for (const [index, [name, level]] of Object.entries(this.marks).entries()) {
      if (level > top) continue;
      parts.push(draw("line", { class: "mark-line", x1: ROOM.left, x2: wide - ROOM.right, y1: y(level), y2: y(level) }),
        draw("text", { class: "axis mark-name", x: ROOM.left + 4 + 86 * index, y: y(level) - 3 }, `${name} ${level}`));
    }
    this.series.forEach(([, colour], index) => {
      const path = this.points.map(([at, values], first) => `${first ? "L" : "M"}${x(at).toFixed(1)} ${y(values[index] ?? 0).toFixed(1)}`).join("");
      parts.push(draw("path", { class: `line ${colour}`, d: path }));
    });
    this.svg.replaceChildren(...parts);
    const last = this.points.at(-1)[1];
    this.legend.replaceChildren(...this.series.map(([name, colour], index) => make("span", { class: `key ${colour}` }, `${name} `, make("b", { class: "number" }, this.format(last[index] ?? 0)))));
  }
}

export class BatchTimeline {
  constructor({ seconds = 10, onBatch, onLeave }) {
    Object.assign(this, { seconds, onBatch, onLeave });
    this.batches = new Map();
    this.svg = draw("svg", { class: "chart timeline", role: "img", "aria-label": "Batches of the last seconds: width is time, height is fill" });
    this.svg.addEventListener("pointermove", (event) => {
      const batch = this.batches.get(Number(event.target.dataset?.batch));
      if (batch) this.onBatch(event, batch);
      else this.onLeave();
    });
    this.svg.addEventListener("pointerleave", () => this.onLeave());
  }

  /** `runningTokens`: of what the device computes now; its batch began when the last one ended, or since it was idle. */
  add(now, batches, runningTokens, colourOf) {
    for (const batch of batches) this.batches.set(batch.number, batch);
    if (!runningTokens || this.idleAt === undefined) this.idleAt = now;
    const last = this.recent()[0];
    this.running = runningTokens ? Math.min(Math.max(last?.ended ?? 0, this.idleAt), now) : null;
    for (const [number, batch] of this.batches) if (batch.ended < now - this.seconds) this.batches.delete(number);
    const wide = this.svg.clientWidth || 800, high = 120, floor = high - ROOM.bottom;
    this.svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    const x = (at) => wide - ROOM.right - ((now - at) / this.seconds) * (wide - ROOM.left - ROOM.right);
    const parts = [draw("line", { class: "grid", x1: ROOM.left, x2: wide - ROOM.right, y1: floor, y2: floor }), draw("line", { class: "grid", x1: ROOM.left, x2: wide - ROOM.right, y1: ROOM.top, y2: ROOM.top }),
      draw("text", { class: "axis", x: ROOM.left - 6, y: ROOM.top + 4, "text-anchor": "end" }, "full"), draw("text", { class: "axis", x: ROOM.left - 6, y: floor + 4, "text-anchor": "end" }, "0")];
    for (const batch of this.batches.values()) {
      const left = Math.max(x(batch.begun), ROOM.left), right = Math.max(x(batch.ended), left + 1.5);
      const tall = Math.max(Math.min(batch.tokens / batch.full_tokens, 1) * (floor - ROOM.top), 2);
      parts.push(draw("rect", { class: `batch ${colourOf(batch.model)}`, "data-batch": batch.number, x: left, width: Math.max(right - left - 0.6, 1), y: floor - tall, height: tall, rx: 1.5 }));
    }
    if (this.running !== null) {
      const left = Math.max(x(this.running), ROOM.left), tall = Math.max(Math.min(runningTokens / (last?.full_tokens ?? runningTokens), 1) * (floor - ROOM.top), 2);
      parts.push(draw("rect", { class: `batch running ${last ? colourOf(last.model) : "c0"}`, x: left, width: Math.max(x(now) - left, 1), y: floor - tall, height: tall, rx: 1.5 }));
    }
    for (const ago of [0, this.seconds / 2, this.seconds]) parts.push(draw("text", { class: "axis", x: x(now - ago), y: high - 4, "text-anchor": ago ? (ago === this.seconds ? "start" : "middle") : "end" }, ago ? `${ago} s ago` : "now"));
    this.svg.replaceChildren(...parts);
  }

  /** Share of the shown seconds in which the device computed. */
  busy(now) {
    let until = now - this.seconds, busy = 0;
    const spans = [...this.batches.values()].map(({ begun, ended }) => [begun, ended]).sort((a, b) => a[0] - b[0]);
    if (this.running !== null) spans.push([this.running, now]);
    for (const [begun, ended] of spans) {
      busy += Math.max(ended - Math.max(begun, until), 0);
      until = Math.max(until, ended);
    }
    return Math.min(busy / this.seconds, 1);
  }

  clear() { this.batches.clear(); this.idleAt = undefined; }

  recent() { return [...this.batches.values()].sort((a, b) => b.number - a.number); }
}
