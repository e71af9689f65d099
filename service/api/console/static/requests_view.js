// One request's way as a waterfall, found by its id, and the last requests beside it.

import { askJson } from "./api.js";
import { bytes, count, make, milliseconds, percent, tip } from "./dom.js";
import { copy } from "./snippets.js";

const STAGES = {
  receive: ["Receive", "The body came in"], parse: ["Parse", "A parser read the file"], tokenize: ["Tokenize", "Text became tokens"],
  queue: ["Queue", "It waited for a batch"], batch: ["Batch", "The device ran it"], compute: ["Compute", "The device ran it; the engine no longer knows in which batches"],
  deliver: ["Deliver", "The scores came back"], decode: ["Decode", "Scores became entities"], answer: ["Answer", "The answer was written"], other: ["Other", "Between the stages"],
};

export class View {
  constructor(root) {
    this.root = root;
    this.input = make("input", { type: "search", placeholder: "A request’s id (X-Request-Id)", "aria-label": "Request id", class: "mono", spellcheck: "false" });
    this.list = make("div", { class: "card recent" });
    this.shown = make("div", { class: "card way", "aria-live": "polite" }, make("p", { class: "empty" }, "Choose a request to see where its time went. Every answer names its id in the header X-Request-Id."));
    root.replaceChildren(make("div", { class: "requests" },
      make("form", { class: "head", onsubmit: (event) => { event.preventDefault(); if (this.input.value.trim()) location.hash = `#requests/${encodeURIComponent(this.input.value.trim())}`; } },
        make("h1", {}, "Requests"), this.input, make("button", { type: "submit" }, "Look up"),
        make("button", { type: "button", onclick: () => this.#listAll() }, "Refresh")),
      this.list, this.shown));
  }

  async enter(id) {
    await Promise.all([this.#listAll(id), id && this.#showOne(id)]);
  }

  async #listAll(id = this.id) {
    this.id = id;
    try {
      const requests = await askJson("/console/requests");
      this.list.replaceChildren(requests.length ? table(requests, id) : make("p", { class: "empty" }, "No request has come yet."));
    } catch (problem) {
      this.list.replaceChildren(make("p", { class: "notice bad", role: "alert" }, problem.message));
    }
  }

  async #showOne(id) {
    try {
      this.shown.replaceChildren(...way(await askJson(`/console/requests/${encodeURIComponent(id)}`)));
    } catch (problem) {
      this.shown.replaceChildren(make("p", { class: "notice bad", role: "alert" }, problem.message));
    }
  }
}

/** What became of a request: its status with the code of its error, or how many of its documents failed. */
function outcome({ status, code, count: all, failed }) {
  if (status !== 200) return ["bad", `${status} ${code === "ok" ? "" : code}`.trim()];
  if (!failed) return ["", "ok"];
  return ["bad", all === failed ? `200 ${code}` : `200 ok, but ${failed} of ${all}: ${code}`];
}

/** The id in full, which a click copies. */
function copyable(id) {
  const button = make("button", { type: "button", class: "plain copy-id", title: `Copy ${id}`, "aria-label": `Copy the id ${id}` }, "Copy");
  button.addEventListener("click", async () => { button.textContent = await copy(id, button); });
  return button;
}

function table(requests, id) {
  const rows = requests.map((each) => make("tr", { "aria-current": each.id === id ? "true" : null },
    make("td", { class: "time" }, new Date(each.unix_seconds * 1000).toLocaleTimeString("en-GB")),
    make("td", {}, make("a", { class: "mono", title: each.id, href: `#requests/${encodeURIComponent(each.id)}` }, each.id.length > 14 ? `${each.id.slice(0, 12)}…` : each.id),
      make("div", { class: `small outcome ${outcome(each)[0]}` }, outcome(each)[1])),
    make("td", { class: "number" }, each.tokens ? each.tokens.toLocaleString("en") : ""),
    make("td", { class: "number" }, milliseconds(each.total_ms))));
  return make("table", {}, make("thead", {}, make("tr", {}, ...[["Time"], ["Request, and what became of it"], ["Tokens", "number"], ["Total", "number"]]
    .map(([name, kind]) => make("th", { class: kind ?? "", scope: "col" }, name)))), make("tbody", {}, ...rows));
}

function way(request) {
  const facts = [new Date(request.unix_seconds * 1000).toLocaleString("en-GB"), request.model, request.client, count(request.count, "document")].filter(Boolean).join(" · ");
  const head = [make("h2", { class: "mono" }, request.id, copyable(request.id)), make("p", { class: "soft small" }, facts)];
  if (!request.documents.length) {
    return [...head, make("p", { class: "notice" }, `It was answered with ${outcome(request)[1]} after ${milliseconds(request.total_ms)}, before any document was begun.`)];
  }
  const parts = request.documents.map((each, at) => documentWay(each, request, at));
  const more = request.count - request.documents.length;
  return [...head, ...parts, more > 0 && make("p", { class: "soft" }, `${count(more, "document")} more came with it.`)].filter(Boolean);
}

function documentWay(document, request, at) {
  const isLast = document.total_ms >= Math.max(...request.documents.map((each) => each.total_ms));
  const spans = isLast ? [...document.spans, { name: "answer", start_ms: document.total_ms, ms: request.total_ms - document.total_ms }] : document.spans;
  const about = [document.format, document.format === "text" ? count(document.size, "character") : bytes(document.size), document.pages && count(document.pages, "page"),
    count(document.tokens, "token"), count(document.windows, "window"), count(document.entities, "entity", "entities")].filter(Boolean).join(" · ");
  const total = isLast ? request.total_ms : document.total_ms;
  return make("section", { class: "document-way" },
    make("h3", {}, request.count > 1 ? `Document ${at + 1}: ${about}` : about),
    document.code !== "ok" && make("p", { class: "notice bad" }, `It was answered with the error ${document.code}.`),
    track(spans, request.total_ms), stages(spans, total), batches(document));
}

function track(spans, total) {
  const bar = make("div", { class: "track", role: "img", "aria-label": spans.map((each) => `${STAGES[each.name][0]} ${milliseconds(each.ms)}`).slice(0, 40).join(", ") });
  for (const span of spans) {
    const part = make("span", { class: `part ${span.name}`, onpointermove: (event) => tip.show(event, `${STAGES[span.name][0]} · ${milliseconds(span.ms)}`, `from ${milliseconds(span.start_ms)}`, span.batch && fillOf(span.batch)), onpointerleave: () => tip.hide() });
    part.style.left = `${(span.start_ms / total) * 100}%`;
    part.style.width = `${(span.ms / total) * 100}%`;
    bar.append(part);
  }
  return bar;
}

function stages(spans, total) {
  const sums = new Map();
  for (const span of spans) {
    const name = span.name;
    const known = sums.get(name) ?? { name, start: span.start_ms, ms: 0, times: 0 };
    known.ms += span.ms;
    known.times += 1;
    sums.set(name, known);
  }
  const rows = [...sums.values()].map(({ name, start, ms, times }) => {
    const bar = make("span", { class: `part ${name}` });
    bar.style.width = `${Math.max((ms / total) * 100, 0.3)}%`;
    bar.style.left = `${times > 1 ? 0 : Math.min((start / total) * 100, 99.7)}%`;
    return make("tr", {}, make("th", { scope: "row", title: STAGES[name][1] }, make("span", { class: `swatch part ${name}` }), STAGES[name][0], times > 1 && make("span", { class: "soft" }, ` × ${times}`)),
      make("td", { class: "lane" }, make("div", { class: "track thin" }, bar)),
      make("td", { class: "number", "data-ms": ms }, milliseconds(ms)), make("td", { class: "number soft" }, percent(ms / total)));
  });
  return make("table", { class: "stages" }, make("tbody", {}, ...rows),
    make("tfoot", {}, make("tr", {}, make("th", { scope: "row" }, "Total"), make("td"), make("td", { class: "number total", "data-ms": total }, milliseconds(total)), make("td"))));
}

const percentWide = (ratio) => `${Math.min(ratio, 1) * 100}%`;
const fillOf = (batch) => `${batch.tokens.toLocaleString("en")} of ${batch.full_tokens.toLocaleString("en")} tokens, ${count(batch.sequences, "sequence")} of ${count(batch.documents, "document")}`;

function batches(document) {
  const ran = document.spans.filter((each) => each.batch);
  if (!ran.length) return document.batches ? make("p", { class: "soft small" }, `It ran in ${count(document.batches, "batch", "batches")}, which the engine no longer remembers.`) : "";
  const rows = ran.map((span) => {
    const { batch } = span;
    const mates = make("span", { class: "mates", role: "img", "aria-label": `Sequences of ${batch.lengths.join(", ")} tokens` });
    const longest = Math.max(...batch.lengths);
    for (const length of batch.lengths) {
      const bar = make("i");
      bar.style.height = `${Math.max((length / longest) * 100, 6)}%`;
      mates.append(bar);
    }
    const level = make("i");
    level.style.width = percentWide(batch.tokens / batch.full_tokens);
    const meter = make("span", { class: "fill" }, level);
    return make("tr", {}, make("td", { class: "number" }, String(batch.number)), make("td", { class: "number" }, milliseconds(span.start_ms)), make("td", { class: "number" }, milliseconds(span.ms)),
      make("td", {}, meter, make("span", { class: "soft small" }, ` ${fillOf(batch)}`)), make("td", {}, mates));
  });
  const open = ran.length <= 12;
  const whose = ran.length === 1 ? "and what else was in it" : "and what else was in them";
  return make("details", { open }, make("summary", {}, `${count(ran.length, "batch", "batches")}, ${whose}`),
    make("table", { class: "batches" }, make("thead", {}, make("tr", {}, ...["Batch", "From", "Took"].map((name) => make("th", { class: "number", scope: "col" }, name)),
      make("th", { scope: "col" }, "Fill"), make("th", { scope: "col" }, "Lengths of its sequences"))), make("tbody", {}, ...rows)));
}
