// The engine at work. The stream is open only while this view shows, in a tab that shows.

import { ask } from "./api.js";
import { BatchTimeline, LineChart } from "./charts.js";
import { bytes, count, make, milliseconds, percent, short, tip } from "./dom.js";

const AGAIN_MS = 2_000;
const STAGES = [["compute", "Device", "c0"], ["tokenize", "Text", "c5"], ["parse", "Parsers", "c1"]];
const PHASES = { syncing: "Fetching models", loading: "Loading models", warming: "Warming up", ready: "Ready", draining: "Shutting down", failed: "Failed", unreachable: "Not reachable" };
const MARKS = { "scale in": "shrink", target: "aim", step: "grow fast" }; // thresholds of scaling, in one or two words
const LOOK_SECONDS = 10;
const LATE_SECONDS = 60; // within which a refusal is told as what is wrong now
const NO_FAULT = new Set(["too_long_for_deadline"]); // refusals that say something of the document, and nothing of the service
const FULL = 0.8; // share of the queue's limit from which it is nearly full
const IDLE = 0.02; // work ratio below which a stage does nothing that its chart would show

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
    this.refused = [];
    this.tiles = {};
    const tile = (name, title) => {
      this.tiles[name] = [make("dd", { class: "number", "data-tile": name }, "–"), make("dd", { class: "soft small" }, "")];
      return make("div", { class: `tile card ${name}` }, make("dt", {}, title), ...this.tiles[name]);
    };
    this.ratio = new LineChart({ title: "Work ratio of each stage, with the levels at which a fleet shrinks and grows", series: STAGES.map(([, name, colour]) => [name, colour]), least: 1, most: 2, format: (value) => value.toFixed(2) });
    this.queue = new LineChart({ title: "Documents that wait", series: [["Documents waiting", "c3"]], least: 10, format: (value) => Math.round(value).toLocaleString("en") });
    this.timeline = new BatchTimeline({ seconds: LOOK_SECONDS, onBatch: (event, batch) => tip.show(event, `Batch ${batch.number} · ${milliseconds((batch.ended - batch.begun) * 1000)}`, fill(batch), who(batch)), onLeave: () => tip.hide() });
    this.last = make("tbody");
    this.memory = make("div");
    this.refusals = make("div");
    this.models = make("div");
    this.notice = make("div", { class: "notes" });
    const card = (title, words, ...children) => make("section", { class: "card" }, make("h2", {}, title), words && make("p", { class: "soft small" }, words), ...children);
    root.replaceChildren(make("h1", { class: "unseen" }, "The engine at work"), this.notice, make("dl", { class: "tiles" },
      tile("wrong", "What is wrong"), tile("busy", "Device busy"), tile("waiting", "Waiting"), tile("backlog", "Time to catch up"), tile("speed", "Speed"), tile("refused", "Refused")),
    this.rest = make("p", { class: "card soft", hidden: true }, "Nothing is asked for now. Work ratio, queue and batches show here as soon as documents come."),
    this.charts = make("div", { class: "charts" },
      card("Work ratio", "Work that is asked for over what can be done: above 1 a queue grows. Device: computes; Text: prepares tokens; Parsers: read files. "
        + "A fleet aims at the middle line, shrinks below the lowest, and grows faster above the highest.", this.ratio.node),
      card("Queue", "Documents that were taken and wait for the device.", this.queue.node)),
    this.batches = card("Batches", "Parts of documents that the device computed together: as wide as it took, as high as it was full.", this.timeline.svg,
      scrolled("The last batches", heads([["Batch", "number"], ["Took", "number"], ["How full"], ["Whose documents"]]), this.last, "last")),
    make("div", { class: "charts" }, card("Memory for batches", "", this.memory), card("Refusals since the start", "", this.refusals)),
    card("Models", "", this.models));
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
        this.#tile("wrong", PHASES.unreachable, "these values are old");
        this.tiles.wrong[0].parentElement.dataset.wrong = "yes";
      }
      await new Promise((resolve) => { setTimeout(resolve, AGAIN_MS); });
    }
  }

  #show(state) {
    this.notice.replaceChildren(...(state.detail ? [make("p", { class: "notice" }, state.detail)] : []));
    this.#showModels(state.models, state.engine?.memory);
    const { engine } = state;
    if (engine && this.name !== engine.engine) { this.name = engine.engine; this.timeline.clear(); this.refused = []; }
    this.#tellWrong(state);
    if (!engine) return;
    const { load, now_seconds: now } = engine;
    const refused = engine.refusals.reduce((sum, each) => sum + each.documents, 0);
    this.#tile("waiting", load.documents ? count(load.documents, "document") : "Nothing", load.documents
      ? `${compact(load.tokens)} of ${compact(state.queue_limit_tokens)} tokens, the oldest for ${milliseconds(load.oldest_age_seconds * 1000)}`
      : `room for ${compact(state.queue_limit_tokens)} tokens`);
    this.#tile("backlog", engine.backlog_seconds >= 0.05 ? `${engine.backlog_seconds.toFixed(1)} s` : "At once", "for what waits and what was just refused");
    this.#tile("speed", engine.tokens_per_second ? `${compact(engine.tokens_per_second)} tokens/s` : "Not measured", engine.tokens_per_second ? "when it computes" : "until a document comes");
    this.#tile("refused", refused ? count(refused, "document") : "None", "since the start");
    this.ratio.marks = Object.fromEntries(Object.entries(state.thresholds).map(([name, level]) => [MARKS[name] ?? name, level]));
    this.ratio.add(now, STAGES.map(([stage]) => engine.work_ratios[stage] ?? 0));
    this.queue.add(now, [load.documents]);
    this.timeline.add(now, engine.batches, load.running_tokens, (model) => this.#colour(model));
    this.#tile("busy", percent(this.timeline.busy(now)), `of the last ${LOOK_SECONDS} s`);
    const isIdle = this.ratio.highest < IDLE && !this.queue.highest && !this.timeline.recent().length && !load.running_tokens;
    [this.rest.hidden, this.charts.hidden, this.batches.hidden] = [!isIdle, isIdle, isIdle];
    this.#showBatches();
    this.#showMemory(engine);
    this.#showRefusals(engine.refusals);
    this.root.dataset.now = now;
  }

  /** The first tile: the worst that is wrong now, with what it comes from, and what else is. */
  #tellWrong(state) {
    const { engine, phase } = state;
    const wrong = troubles(state, engine ? this.#lateRefusals(engine) : []);
    const fine = [engine?.load.running_tokens ? "ready, computes a batch" : "ready, nothing to compute"];
    const [what, ...more] = wrong[0] ?? ["Nothing", ...fine];
    this.#tile("wrong", what, [...more, ...wrong.slice(1).map(([other]) => `also: ${other.toLowerCase()}`)].filter(Boolean).join("; "));
    this.tiles.wrong[0].parentElement.dataset.wrong = wrong.length ? (phase === "ready" ? "yes" : "wait") : "no";
  }

  /** What was refused in the last `LATE_SECONDS` while this view was open: [code, documents]. */
  #lateRefusals({ now_seconds: now, refusals }) {
    this.refused.push([now, new Map(refusals.map((each) => [each.code, each.documents]))]);
    while (this.refused.length > 1 && this.refused[0][0] < now - LATE_SECONDS) this.refused.shift();
    const before = this.refused[0][1];
    return refusals.map((each) => [each.code, each.documents - (before.get(each.code) ?? 0)]).filter(([code, documents]) => documents > 0 && !NO_FAULT.has(code));
  }

  #tile(name, value, words) {
    const [number, said] = this.tiles[name];
    number.textContent = value;
    said.textContent = words;
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
      parts.push(bar, make("dl", { class: "facts-list" }, ...[["rest", "In use without a batch", bytes(memory.rest_bytes)], ["used", `Largest batch of the last ${LOOK_SECONDS} s, as predicted`, used ? bytes(used) : "–"],
        ["room", "Batches may take", bytes(memory.room_bytes)], ["", "Batches may always take", bytes(memory.floor_bytes)], ["", "Shrank by 5 % or more", memory.shrinks ? count(memory.shrinks, "time") : "never"]]
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
      return make("tr", {}, make("td", {}, make("code", {}, each.code), make("div", { class: "soft small" }, each.detail ? `Last: ${each.detail}` : "By an API worker, before the engine was asked"), bar), make("td", { class: "number" }, each.documents.toLocaleString("en")));
    }))));
  }

  #showModels(models, memory) {
    const drawn = JSON.stringify([models, memory?.budget_tokens]);
    if (drawn === this.drawnModels) return;
    this.drawnModels = drawn;
    const columns = [["Model"], ["Revision"], ["State"], ["Weights are on"], ["Runs as"], ["Weights", "number"], ["Largest batch", "number"]];
    const rows = models.flatMap((model) => {
      const row = make("tr", {}, make("td", {}, make("span", { class: `swatch ${this.#colour(model.revision)}` }), ` ${model.name}${model.tag ? `@${model.tag}` : ""}`), make("td", { class: "mono", title: model.revision }, short(model.revision)),
        make("td", {}, model.state), make("td", {}, model.place), make("td", { title: "Path, attention, kernels, number format" }, model.code.filter(Boolean).join(", ")), make("td", { class: "number" }, bytes(model.bytes)),
        make("td", { class: "number" }, memory?.budget_tokens[model.revision] ? `${memory.budget_tokens[model.revision].toLocaleString("en")} tokens` : "–"));
      return model.problem ? [row, make("tr", {}, make("td", { colspan: columns.length }, make("p", { class: "notice bad" }, model.problem)))] : [row];
    });
    this.models.replaceChildren(scrolled("Models", heads(columns), make("tbody", {}, ...rows)));
  }
}

/** What is wrong, the worst first: [in two or three words, what it comes from]. */
export function troubles({ phase, detail, engine, models, thresholds, queue_limit_tokens: limit }, refused) {
  const found = [];
  if (phase !== "ready") found.push([PHASES[phase] ?? phase, detail]);
  else if (!engine) found.push(["No engine", "it does not answer"]);
  for (const { name: model, problem } of models) if (problem) found.push([`Model ${model}`, "its newest revision is not served; see Models"]);
  for (const [code, documents] of refused) found.push(["Refuses work", `${count(documents, "document")} of late: ${code}`]);
  const [stage, ratio] = STAGES.map(([name, title]) => [title, engine?.work_ratios[name] ?? 0]).sort((a, b) => b[1] - a[1])[0];
  if (ratio > thresholds.step) found.push([ratio > 1 ? "Too much work" : "Near its limit", `${stage}: ${ratio.toFixed(2)} times what it can do`]);
  if (engine && engine.load.tokens > FULL * limit) found.push(["Queue nearly full", `${percent(engine.load.tokens / limit)} of its tokens`]);
  return found;
}

const heads = (columns) => make("thead", {}, make("tr", {}, ...columns.map(([name, kind]) => make("th", { class: kind ?? "", scope: "col" }, name))));
const scrolled = (name, head, body, kind) => make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, make("table", { class: kind }, head, body));
const compact = (value) => Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(value);
const fill = (batch) => `${percent(batch.tokens / batch.full_tokens)} · ${batch.tokens.toLocaleString("en")} tokens, ${count(batch.sequences, "sequence")} of ${count(batch.documents, "document")}`;
const who = (batch) => Object.entries(batch.clients).map(([name, number]) => `${name} ${number}`).join(", ") || "–";
