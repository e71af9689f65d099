// What was dropped: its kind by name and type, as the service is told it.

const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const TYPES = {
  pdf: "application/pdf", docx: DOCX, docm: DOCX, dotx: DOCX,
  html: "text/html", htm: "text/html", xhtml: "text/html", txt: "text/plain", text: "text/plain", md: "text/markdown", markdown: "text/markdown",
  csv: "text/csv", tsv: "text/tab-separated-values", tab: "text/tab-separated-values",
};
/** Files that are no documents, told to the service as such: as `application/json` it would take one for a request. */
const OTHERS = { json: "text/json", jsonl: "text/json", ndjson: "text/json", eml: "message/rfc822" };

const PICTURE = /^image\/(png|jpeg|tiff|webp|bmp|gif)$/;
const PICTURES = ["png", "jpg", "jpeg", "tif", "tiff", "webp", "bmp", "gif"];

/** What is taken, once the service has said so at its door. */
export const TAKEN = { documents: "", pictures: "" };
/** What the dialog for files offers. */
export const ENDINGS = [...Object.keys(TYPES), "xml", "hocr", "json", ...PICTURES].map((each) => `.${each}`).join(",");

const PREVIEW = 40_000; // bytes or characters

const ending = (name) => /\.([a-z0-9]+)$/i.exec(name)?.[1].toLowerCase() ?? "";

/** `isDrawn`: its pages can be drawn before it is read, as those of a PDF or a picture. */
export function fileSource(file, name = file.name) {
  const type = { ...TYPES, ...OTHERS }[ending(name)] ?? (file.type || "application/octet-stream");
  return { name, file, type, isDrawn: type === "application/pdf" || PICTURE.test(type) };
}

export const textSource = (text) => ({ name: "Pasted text", text, isDrawn: false });

export async function sampleSource(name) {
  const answer = await fetch(`/console/files/samples/${name}`);
  return fileSource(await answer.blob(), name);
}

export const SAMPLES = [
  ["invoice.pdf", "Invoice"], ["resume.pdf", "Résumé"], ["rechnung.pdf", "German invoice"], ["offer.html", "Offer (HTML)"],
];

/** What shows of a document without pages until its answer is there. */
export async function preview({ file, text, type }) {
  if (text) return text.slice(0, PREVIEW);
  const isText = /^text\/(plain|markdown)$/.test(type);
  try {
    if (isText) return new TextDecoder("utf-8", { fatal: true }).decode(await file.slice(0, PREVIEW).arrayBuffer(), { stream: true });
  } catch { /* It has another charset, which the service finds out. */ }
  return "The text shows here when the file has been read.";
}
