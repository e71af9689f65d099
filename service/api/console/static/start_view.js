// The empty page: where a document is dropped, what may be dropped, and what was wrong with the last one.

import { entrance } from "./api.js";
import { bytes, count, make } from "./dom.js";
import { failure } from "./failure.js";
import { words as named } from "./fields_panel.js";
import { labelsOf } from "./findings.js";
import { ENDINGS, SAMPLES, TAKEN, fileSource, sampleSource, textSource } from "./source.js";

/** The place where files are dropped or chosen. */
export function dropZone(open, words = "Drop a document, scan or photo here") {
  const chosen = make("input", { type: "file", accept: ENDINGS, hidden: true, "aria-label": "A file",
    onchange: () => chosen.files[0] && open(fileSource(chosen.files[0])) });
  const kinds = make("span", { class: "soft" }, TAKEN.documents), scans = make("span", { class: "soft" });
  const tell = ({ formats, ocr }) => {
    Object.assign(TAKEN, formats);
    kinds.textContent = TAKEN.documents;
    scans.textContent = ocr ? `Scan or photo: ${TAKEN.pictures}` : "No scan or photo: OCR is not installed here";
  };
  entrance().then(tell, () => {});
  return make("div", { class: "drop" }, make("strong", {}, words), kinds, scans,
    make("button", { type: "button", class: "primary", onclick: () => chosen.click() }, "Choose a file"), make("span", { class: "soft small" }, "or paste one with Ctrl+V"), chosen);
}

/** The whole page. `model`: gives the chosen one; `choice`: a list of all, if there are several, with what is done when another
 * is chosen; `problem`, `again`: of the last document; `text`: what was pasted. */
export function startView({ open, model, choice, problem, again, text = "" }) {
  const words = make("textarea", { id: "words", placeholder: "Invoice INV-20931 from Acme GmbH, due 12 March 2026, total EUR 1,200.00." });
  words.value = text;
  const list = make("label", { class: "model" });
  return make("div", { class: "start" },
    make("h1", {}, problem ? "This document was not read" : "See what is found in a document"),
    problem ? failure(problem, again) : make("p", {}, "This service reads it with its own models, on its own machine, and keeps no copy."),
    list, dropZone(open, problem ? "Drop another document here" : undefined),
    make("form", { class: "paste", onsubmit: (event) => { event.preventDefault(); if (words.value.trim()) open(textSource(words.value)); } },
      make("label", { for: "words" }, "Or paste a text"), words, make("button", { type: "submit" }, "Extract")),
    samples(open), facts(model, (changed) => list.replaceChildren(...choice(changed))));
}

/** The samples, each behind a button. */
export const samples = (open) => make("div", { class: "samples" }, make("span", { class: "soft" }, "Or try a sample:"),
  ...SAMPLES.map(([name, title]) => make("button", { type: "button", "data-sample": name, onclick: async () => open(await sampleSource(name)) }, title)));

function facts(model, offer) {
  const limits = make("p", {}, "Long documents are read to the end; nothing is cut off.");
  const scans = make("p");
  const tell = ({ ocr, limits: { bytes: most, pages, characters } }) => {
    scans.replaceChildren(...(ocr ? [`Scans and photos (${TAKEN.pictures}): printed text in them is recognized, handwriting is not.`]
      : [make("b", {}, "Not scans or photos: "), "OCR is not installed here. Give a scan a text layer first: ", make("code", {}, "ocrmypdf scan.pdf readable.pdf"), "."]));
    limits.append(` One may have up to ${bytes(most)}, ${count(pages, "page")} or ${Intl.NumberFormat("en", { notation: "compact", compactDisplay: "long" }).format(characters)} characters, and take an hour at most.`);
  };
  entrance().then(tell, () => {});
  const labels = make("p", { class: "labels" }, "The labels of the model that is served, for example names, dates, amounts and identifiers.");
  const tellLabels = () => { if (model()) labels.replaceChildren(...said(model())); };
  const known = () => { tellLabels(); offer(tellLabels); };
  known();
  document.addEventListener("models", known);
  const part = (title, ...children) => make("section", {}, make("h2", {}, title), ...children);
  return make("div", { class: "about" },
    part("What is read", limits, scans),
    part("What is found", labels, make("p", {}, "Invoices, receipts, contracts and résumés also have fields: the total, the due date, the parties, the jobs.")),
    part("From a program", make("p", {}, "Post the same file to ", make("code", {}, "/extract"), ". ", make("a", { href: "/docs" }, "The API’s documentation"),
      " has all options; every answer here can be copied as curl, Python or JSON.")));
}

function said(model) {
  if (model.free_labels) return [make("b", {}, "What you name: "), "this model is given its labels; beside the document is a box for them."];
  const labels = labelsOf(model).sort();
  const taken = !model.needs_pages ? "" : ` This model sees ${model.needs_pictures ? "pages" : "where words stand"}: it reads PDFs, scans and photos${
    model.needs_pictures ? "" : ", hOCR, ALTO and Textract’s JSON"}, not texts.`;
  return [make("b", {}, `${count(labels.length, "label")}: `), `${labels.map((each) => named(each.toLowerCase())).join(", ")}.${taken}`];
}
