// The engine at work. The stream is open only while this view shows, in a tab that shows.

import { ask } from "./api.js";
import { BatchTimeline, LineChart } from "./charts.js";
import { bytes, count, make, milliseconds, percent, short, tip } from "./dom.js";

const AGAIN_MS = 2_000;
const STAGES = [["compute", "Device", "c0"], ["tokenize", "Text", "c5"], ["parse", "Parsers", "c1"]];
const LOOK_SECONDS = 10;

async function* events(signal) {
  const answer = await ask("/console/live", { signal });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let kept = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (kept + value).split("\n\n");
    kept = parts.pop();
    for (const part of parts) if (part.startsWith("data: ")) yield JSON.parse(part.slice(6));
  }
}

export class View {
  constructor(root) {
    this.root = root;
    this.colours = new Map();
    this.tiles = Object.fromEntries(["phase", "documents", "tokens", "oldest", "backlog", "speed", "busy"].map((name) => [name, make("dd", { class: "number", "data-tile": name }, "–")]));
    const tile = (name, title) => make("div", { class: "tile card" }, make("dt", {}, title), this.tiles[name]);
    this.ratio = new LineChart({ title: "Work ratio of each stage, with the thresholds of scaling", series: STAGES.map(([, name, colour]) => [name, colour]), least: 1, most: 2, format: (value) => value.toFixed(2) });
    this.queue = new LineChart({ title: "Documents that wait", series: [["Documents waiting", "c3"]], least: 10, format: (value) => Math.round(value).toLocaleString("en") });
    this.timeline = new BatchTimeline({ seconds: LOOK_SECONDS, onBatch: (event, batch) => tip.show(event, `Batch ${batch.number} · ${milliseconds((batch.ended - batch.begun) * 1000)}`, fill(batch), who(batch)), onLeave: () => tip.hide() });
    this.last = make("tbody");
    this.memory = make("div");
    this.refusals = make("div");
    this.models = make("div");
    this.notice = make("div", { class: "notes" });
    const card = (title, ...children) => make("section", { class: "card" }, make("h2", {}, title), ...children);
    root.replaceChildren(make("h1", { class: "unseen" }, "The engine at work"), this.notice, make("dl", { class: "tiles" }, tile("phase", "Phase"), tile("documents", "Documents waiting"), tile("tokens", "Tokens waiting"), tile("oldest", "Oldest waits"),
      tile("backlog", "Backlog"), tile("speed", "Capacity"), tile("busy", "Device busy")),
    make("div", { class: "charts" }, card("Work ratio", this.ratio.node), card("Queue", this.queue.node)),
    card("Batches", this.timeline.svg, make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The last batches" }, make("table", { class: "last" }, make("thead", {}, make("tr", {}, ...[["Batch", "number"], ["Took", "number"], ["Fill"], ["Whose"]].map(([name, kind]) => make("th", { class: kind ?? "", scope: "col" }, name)))), this.last))),
    make("div", { class: "charts" }, card("Memory guard", this.memory), card("Refusals", this.refusals)),
    card("Models", this.models));
    document.addEventListener("visibilitychange", () => this.#follow());
  }

  enter() { this.inside = true; this.#follow(); }

  leave() { this.inside = false; tip.hide(); this.#follow(); }

  async #follow() {
    const wanted = this.inside && !document.hidden;
    if (wanted === Boolean(this.abort)) return;
    if (!wanted) { this.abort.abort(); this.abort = null; return; }
    const abort = this.abort = new AbortController();
    while (abort === this.abort) {
      try {
        for await (const state of events(abort.signal)) if (abort === this.abort) this.#show(state);
      } catch (problem) {
        if (problem.name === "AbortError") return;
        this.notice.replaceChildren(make("p", { class: "notice bad", role: "alert" }, problem.message ?? "The stream broke off."));
      }
      await new Promise((resolve) => { setTimeout(resolve, AGAIN_MS); });
    }
  }

  #show(state) {
    this.tiles.phase.textContent = state.phase;
    this.notice.replaceChildren(...(state.detail ? [make("p", { class: "notice" }, state.detail)] : []));
    this.#showModels(state.models, state.engine?.memory);
    const { engine } = state;
    if (!engine) return;
    if (this.name !== engine.engine) { this.name = engine.engine; this.timeline.clear(); }
    const { load, now_seconds: now } = engine;
    const { tiles } = this;
    tiles.documents.textContent = load.documents.toLocaleString("en");
    tiles.tokens.textContent = `${load.tokens.toLocaleString("en")} of ${compact(state.queue_limit_tokens)}`;
    tiles.oldest.textContent = load.documents ? milliseconds(load.oldest_age_seconds * 1000) : "–";
    tiles.backlog.textContent = `${engine.backlog_seconds.toFixed(1)} s`;
    tiles.speed.textContent = engine.tokens_per_second ? `${compact(engine.tokens_per_second)} tokens/s` : "–";
    this.ratio.marks = state.thresholds;
    this.ratio.add(now, STAGES.map(([stage]) => engine.work_ratios[stage] ?? 0));
    this.queue.add(now, [load.documents]);
    this.timeline.add(now, engine.batches, load.running_tokens, (model) => this.#colour(model));
    tiles.busy.textContent = percent(this.timeline.busy(now));
    this.#showBatches();
    this.#showMemory(engine);
    this.#showRefusals(engine.refusals);
    this.root.dataset.now = now;
  }

  #colour(revision) {
    if (!this.colours.has(revision)) this.colours.set(revision, `c${this.colours.size % 12}`);
    return this.colours.get(revision);
  }

  #showBatches() {
    const rows = this.timeline.recent().slice(0, 5).map((batch) => make("tr", {}, make("td", { class: "number" }, String(batch.number)), make("td", { class: "number" }, milliseconds((batch.ended - batch.begun) * 1000)),
      make("td", {}, fill(batch)), make("td", {}, who(batch))));
    this.last.replaceChildren(...(rows.length ? rows : [make("tr", {}, make("td", { colspan: 4, class: "soft" }, `No batch ran in the last ${LOOK_SECONDS} s.`))]));
  }

  #showMemory({ memory, gpu }) {
    const parts = [];
    if (memory) {
      const used = Math.max(0, ...this.timeline.recent().map((each) => each.bytes));
      const all = memory.rest_bytes + Math.max(memory.available_bytes, memory.room_bytes);
      const bar = make("div", { class: "memory", role: "img", "aria-label": "Memory at rest, of the largest batch, and room for batches" });
      for (const [kind, from, size] of [["rest", 0, memory.rest_bytes], ["room", memory.rest_bytes, memory.room_bytes], ["used", memory.rest_bytes, used]]) {
        const part = make("span", { class: kind });
        part.style.left = `${(from / all) * 100}%`;
        part.style.width = `${Math.max((size / all) * 100, size ? 0.4 : 0)}%`;
        bar.append(part);
      }
      parts.push(bar, make("dl", { class: "facts-list" }, ...[["rest", "At rest", bytes(memory.rest_bytes)], ["used", `Largest batch of the last ${LOOK_SECONDS} s, as predicted`, used ? bytes(used) : "–"],
        ["room", "Batches may take", bytes(memory.room_bytes)], ["", "Never less than", bytes(memory.floor_bytes)], ["", "Shrank by 5 % or more", String(memory.shrinks)]]
        .flatMap(([kind, name, value]) => [make("dt", {}, make("span", { class: `swatch memory-${kind || "none"}` }), name), make("dd", { class: "number" }, value)])));
    } else parts.push(make("p", { class: "empty" }, "Memory is not measured on this device."));
    if (gpu) {
      const facts = [gpu.utilization_ratio !== null && `${percent(gpu.utilization_ratio)} busy`, gpu.memory_used_bytes !== null && `${bytes(gpu.memory_used_bytes)} of ${bytes(gpu.memory_total_bytes ?? 0)} used`, gpu.power_watts !== null && `${Math.round(gpu.power_watts)} W`];
      parts.push(make("p", {}, make("b", {}, "GPU "), facts.filter(Boolean).join(" · ")));
    }
    this.memory.replaceChildren(...parts);
  }

  #showRefusals(refusals) {
    if (!refusals.length) return this.refusals.replaceChildren(make("p", { class: "empty" }, "The engine has refused nothing."));
    const most = Math.max(...refusals.map((each) => each.documents));
    this.refusals.replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Reason"), make("th", { class: "number", scope: "col" }, "Documents"))), make("tbody", {}, ...refusals.map((each) => {
      const bar = make("div", { class: "bar-line" });
      bar.style.width = `${(each.documents / most) * 100}%`;
      return make("tr", {}, make("td", {}, make("code", {}, each.code), make("div", { class: "soft small" }, each.detail ? `Last: ${each.detail}` : "By a front worker, before the engine was asked"), bar), make("td", { class: "number" }, each.documents.toLocaleString("en")));
    }))));
  }

  #showModels(models, memory) {
    const drawn = JSON.stringify([models, memory?.budget_tokens]);
    if (drawn === this.drawnModels) return;
    this.drawnModels = drawn;
    const heads = [["Model"], ["Revision"], ["State"], ["Place"], ["Runs as"], ["Weights", "number"], ["Batch, most", "number"]];
    const rows = models.flatMap((model) => {
      const row = make("tr", {}, make("td", {}, make("span", { class: `swatch ${this.#colour(model.revision)}` }), ` ${model.name}${model.tag ? `@${model.tag}` : ""}`), make("td", { class: "mono", title: model.revision }, short(model.revision)),
        make("td", {}, model.state), make("td", {}, model.place), make("td", { title: "Path, attention, kernels, number format" }, model.code.filter(Boolean).join(", ")), make("td", { class: "number" }, bytes(model.bytes)),
        make("td", { class: "number" }, memory?.budget_tokens[model.revision] ? `${memory.budget_tokens[model.revision].toLocaleString("en")} tokens` : "–"));
      return model.problem ? [row, make("tr", {}, make("td", { colspan: heads.length }, make("p", { class: "notice bad" }, `A newer revision was not taken: ${model.problem}`)))] : [row];
    });
    this.models.replaceChildren(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Models" }, make("table", {}, make("thead", {}, make("tr", {}, ...heads.map(([name, kind]) => make("th", { class: kind ?? "", scope: "col" }, name)))), make("tbody", {}, ...rows))));
  }
}

const compact = (value) => Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(value);
const fill = (batch) => `${percent(batch.tokens / batch.full_tokens)} · ${batch.tokens.toLocaleString("en")} tokens, ${count(batch.sequences, "sequence")} of ${count(batch.documents, "document")}`;
const who = (batch) => Object.entries(batch.clients).map(([name, number]) => `${name} ${number}`).join(", ") || "–";
