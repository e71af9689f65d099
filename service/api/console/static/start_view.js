// The empty page: where a document is dropped, what may be dropped, and what was wrong with the last one.

import { askJson } from "./api.js";
import { bytes, count, make } from "./dom.js";
import { words as named } from "./fields_panel.js";
import { labelsOf } from "./findings.js";
import { SAMPLES, fileSource, sampleSource, textSource } from "./source.js";

const AGAIN = "Try it again in a moment.";
/** Code of an error → what the reader may do about it. */
const NEXT = {
  unsupported_format: "Save it as PDF, DOCX, HTML or plain text, and drop that.",
  document_too_large: "Split it, and drop its parts.",
  invalid_options: "Choose another model, or reload this page.",
  unknown_model: "Choose another model: this one is no longer served.",
  deadline_exceeded: "Drop a shorter document, or try again when less is waiting; programs may set a longer deadline_ms.",
  queue_full: AGAIN, rate_limited: AGAIN, not_ready: AGAIN, draining: AGAIN, engine_restarting: AGAIN, too_much_at_once: AGAIN,
  unreachable: "Is the service running? Start it, then try again.",
};

/** What to do after an error: of unreadable files the service's own sentence says it, unless they are scans. */
export function nextStep(problem) {
  if (/text layer/.test(problem.message)) return "Scans need a text layer. Make one with OCR, for instance ocrmypdf scan.pdf readable.pdf, and drop the new file.";
  return NEXT[problem.code] ?? "Drop another document, or try this one again.";
}

/** Whether the same document may be answered another time: what failed was the service, its load, or the way to it. */
const mayPass = ({ status }) => !status || status === 429 || status >= 500;

/** A notice with the error's sentence and the next step; `again`: tries the same document once more. */
export function failure(problem, again) {
  return make("div", { class: "notice bad failure", role: "alert" },
    make("p", {}, make("strong", {}, problem.message)), make("p", {}, nextStep(problem)),
    again && mayPass(problem) && make("button", { type: "button", id: "again", onclick: again }, "Try again"));
}

/** The place where files are dropped or chosen. */
export function dropZone(open, words = "Drop a document here") {
  const chosen = make("input", { type: "file", accept: ".pdf,.docx,.html,.htm,.txt,.md,.xml,.png,.jpg,.jpeg,.tif,.tiff,.webp,.bmp", hidden: true, "aria-label": "A file",
    onchange: () => chosen.files[0] && open(fileSource(chosen.files[0])) });
  return make("div", { class: "drop" }, make("strong", {}, words), make("span", { class: "soft" }, "PDF, DOCX, HTML, XML invoice or text, or paste with Ctrl+V"),
    make("button", { type: "button", class: "primary", onclick: () => chosen.click() }, "Choose a file"), chosen);
}

/** The whole page. `models`: gives those served; `problem`, `again`: of the last document; `text`: what was pasted. */
export function startView({ open, models, problem, again, text = "" }) {
  const words = make("textarea", { id: "words", placeholder: "Invoice INV-20931 from Acme GmbH, due 12 March 2026, total EUR 1,200.00." });
  words.value = text;
  return make("div", { class: "start" },
    make("h1", {}, problem ? "This document could not be read" : "See what is found in a document"),
    problem ? failure(problem, again) : make("p", {}, "This service reads it with its own models, on its own machine, and keeps no copy."),
    dropZone(open, problem ? "Drop another document here" : "Drop a document here"),
    make("form", { class: "paste", onsubmit: (event) => { event.preventDefault(); if (words.value.trim()) open(textSource(words.value)); } },
      make("label", { for: "words" }, "Or paste a text"), words, make("button", { type: "submit" }, "Extract")),
    make("div", { class: "samples" }, make("span", { class: "soft" }, "Or try a sample:"), ...SAMPLES.map(([name, title]) =>
      make("button", { type: "button", "data-sample": name, onclick: async () => open(await sampleSource(name)) }, title))),
    facts(models));
}

function facts(models) {
  const limits = make("p", {}, "Long documents are read to the end; nothing is cut off.");
  const scans = make("p");
  const told = ({ ocr, limits: { bytes: most, pages, characters } }) => {
    scans.replaceChildren(...(ocr ? ["Scans and photos (PNG, JPEG, TIFF, WebP, BMP): printed text in them is recognized, handwriting is not."]
      : [make("b", {}, "Not scans or photos: "), "OCR is not installed here. Give a scan a text layer first: ", make("code", {}, "ocrmypdf scan.pdf readable.pdf"), "."]));
    limits.append(` One may have up to ${bytes(most)}, ${count(pages, "page")} or ${Intl.NumberFormat("en", { notation: "compact", compactDisplay: "long" }).format(characters)} characters.`);
  };
  askJson("/console/entrance").then(told, () => {});
  const labels = make("p", { class: "labels" }, "The labels of the model that is served, for example names, dates, amounts and identifiers.");
  const known = () => { if (models().length) labels.replaceChildren(...said(models()[0])); };
  known();
  document.addEventListener("models", known);
  const part = (title, ...children) => make("section", {}, make("h2", {}, title), ...children);
  return make("div", { class: "about" },
    part("What can be dropped", make("p", {}, "PDF, DOCX, HTML, plain text, Markdown, invoices as XML."), scans, limits),
    part("What is found", labels, make("p", {}, "Invoices, receipts and résumés also have fields: the total, the due date, the jobs.")),
    part("From a program", make("p", {}, "Post the same file to ", make("code", {}, "/extract"), ". ", make("a", { href: "/docs" }, "The API’s documentation"),
      " has all options; every answer here can be copied as curl, Python or JSON.")));
}

function said(model) {
  if (model.free_labels) return [make("b", {}, "What you name: "), "this model is given its labels; beside the document is a box for them."];
  const labels = labelsOf(model).sort();
  return [make("b", {}, `${count(labels.length, "label")}: `), `${labels.map((each) => named(each.toLowerCase())).join(", ")}.`];
}
