// What went wrong, in words for the person at this page: what each error means here, and what to do next.

import { bytes, make } from "./dom.js";
import { TAKEN } from "./source.js";

const SAVE = "Save it as PDF, and drop that.";
const SPLIT = "Split it, and drop its parts.";
const again = (retry) => (retry > 3 ? `Try it again in ${retry} seconds.` : "Try it again in a moment.");

/** Code of an error → what the reader is told, by the service's sentence and the seconds to wait. */
const LINES = {
  document_too_large: (sentence) => `${sentence} ${SPLIT}`,
  unsupported_format: () => `A file of this kind is not read. Drop one of these: ${TAKEN.documents}, or a picture (${TAKEN.pictures}).`,
  unknown_model: () => "This model is no longer served. Choose another one.",
  invalid_options: (sentence) => `${sentence} Choose another model, or reload this page.`,
  too_long_for_deadline: () => `This service would need more than an hour for it. ${SPLIT}`,
  deadline_exceeded: (_, retry) => `There was not enough time for it beside the other documents that are read now. ${again(retry)}`,
  queue_full: (_, retry) => `Too many documents wait already. ${again(retry)}`,
  rate_limited: (_, retry) => `More was sent than this service takes from one client in a minute. ${again(retry)}`,
  not_ready: (_, retry) => `The service has just started, and still loads its model. ${again(retry)}`,
  draining: (_, retry) => `This service is being stopped; another one may take its place. ${again(retry)}`,
  engine_restarting: (_, retry) => `A part of the service is being restarted. ${again(retry)}`,
  too_much_at_once: (_, retry) => `Too much is sent to the service at once. ${again(retry)}`,
  too_slow: () => "The file arrived too slowly. Try it again over a faster connection.",
  insufficient_memory: () => `It does not fit the memory of this machine. ${SPLIT}`,
  poison_document: () => "The service broke down twice over this document, and does not read it again. Save it anew, for instance as PDF, and drop that.",
  internal_error: () => "Something failed inside the service; its log says what. Try it again, or drop another document.",
  unreachable: () => "The service does not answer. Is it running? Start it, then try again.",
};

/** Kinds of one code: what the service's sentence has in it → what the reader is told. The first that fits counts. */
const KINDS = {
  document_too_large: [
    [/has ([\d,]+) bytes; the limit is ([\d,]+)/, (has, limit) => `This file has ${size(has)}; ${size(limit)} are the most that is read. ${SPLIT}`],
    [/JSON body/, () => "This text is too long to be pasted. Save it as a file ending in .txt, and drop that."],
    [/^([\d,]+) pages hold text in pictures; the limit is ([\d,]+)/, (has, limit) => `It has ${has} scanned pages; text is recognized on ${limit} at most. ${SPLIT}`],
    [/pixels/, (sentence) => `${sentence} Make it smaller, or scan it with 300 dots an inch, and drop that.`],
  ],
  unsupported_format: [
    [/^A (?:zip|gzip|7-Zip) archive/, () => "An archive is not read as one document. Unpack it, and drop its files one by one."],
    [/^A mail|'message\//, () => "A mail is not read. Save it as PDF, and drop that; its attachments can be dropped one by one."],
    [/^A file of calendars|calendar|vcard/, () => "Calendars and address books are not read. Drop a document that has their text."],
    [/^A JSON/, () => "This JSON file is no document: of JSON, Textract’s answers and pages of words are read. Drop the documents that it tells of, or send its texts from a program."],
    [/^A HEIC/, () => "A photo of the kind HEIC or AVIF is not read. Save it as JPEG, and drop that."],
    [/recognizing its text/, () => `Pictures are not read here, as OCR is not installed. Drop a file that has text in it: ${TAKEN.documents}.`],
    [/^(.*) is not supported; .*Save it/, (what) => `${what} is not read. ${SAVE}`],
  ],
  unreadable_document: [
    [/has no bytes/, () => "This file is empty. Was it saved, or downloaded in full?"],
    [/with a password/, () => "This document is locked with a password. Open it, save it without the password, and drop that."],
    [/has no text layer/, () => "This PDF is a scan without a text layer, and OCR is not installed here. Make the layer, for instance with ocrmypdf scan.pdf readable.pdf, and drop the new file."],
    [/was recognized/, () => "No text was recognized in it: the pages are empty, too coarse, or in handwriting or a script that is not read. Scan it with 200 to 300 dots an inch, and drop that."],
    [/but in pictures/, () => "There is text in its pictures only, and OCR is not installed here. Drop a file that has text in it."],
    [/are hidden/, () => "All text of this document is hidden, so that no person sees it. Hidden text is not read."],
    [/has no text|struck out/, () => "There is no text in this document that can be read."],
    [/was sent as (PDF|DOCX)/, (kind) => `Its name says ${kind}, but its content is something else. Give it its right ending, or save it as ${kind}.`],
    [/has no pages: send/, () => "This model reads words by their places on a page, and this document has no pages. Choose another model, or drop a PDF, a scan, or a result of OCR (hOCR, ALTO, Textract’s JSON)."],
    [/sees a picture of each page, and page (\d+)/, (page) => `This model looks at a picture of each page, and there is none of page ${page}. Choose another model, or drop the PDF or the scan itself.`],
    [/^(Page [\d,]+, image: (?!it is no).*)/, (sentence) => `${sentence} Make this picture anew, or choose a model that does not look at pictures.`],
    [/^Page ([\d,]+(?:, word [\d,]+)?): the (hOCR|ALTO) has no/, (where, kind) => `This ${kind} file does not say where page ${where} stands. Write it anew, and drop that.`],
    [/damaged|not well formed|no answer of Textract/, () => "This file is damaged. Save or download it anew, and drop that."],
  ],
};

const size = (number) => bytes(Number(number.replaceAll(",", "")));

/** What the reader is told of a problem: of one that is not known here, the service's own sentence. */
export function told({ code, message, retry }) {
  for (const [pattern, say] of KINDS[code] ?? []) {
    const found = pattern.exec(message);
    if (found) return say(...found.slice(1), message);
  }
  return LINES[code]?.(message, Number(retry)) ?? message;
}

/** Whether the same document may be answered another time: what failed was the service, its load, or the way to it. */
const mayPass = ({ status, code }) => code !== "poison_document" && (!status || status === 429 || status >= 500);

/** A notice with what went wrong and what to do; `retry`: tries the same document once more. */
export function failure(problem, retry) {
  return make("div", { class: "notice bad failure", role: "alert" }, make("p", {}, told(problem)),
    retry && mayPass(problem) && make("button", { type: "button", id: "again", onclick: retry }, "Try again"));
}
