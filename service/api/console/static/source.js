// What was dropped: its kind by name and type, as the service is told it.

const TYPES = {
  pdf: "application/pdf",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  html: "text/html", htm: "text/html", txt: "text/plain", md: "text/markdown",
};

const PICTURE = /^image\/(png|jpeg|tiff|webp|bmp|gif)$/;

const ending = (name) => /\.([a-z0-9]+)$/i.exec(name)?.[1].toLowerCase() ?? "";

export function fileSource(file, name = file.name) {
  const type = TYPES[ending(name)] ?? (file.type || "application/octet-stream");
  return { name, file, type, hasPages: type === "application/pdf" || PICTURE.test(type) };
}

export const textSource = (text) => ({ name: "Pasted text", text, hasPages: false });

export async function sampleSource(name) {
  const answer = await fetch(`/console/files/samples/${name}`);
  return fileSource(await answer.blob(), name);
}

export const SAMPLES = [
  ["invoice.pdf", "Invoice"], ["resume.pdf", "Résumé"], ["rechnung.pdf", "German invoice"], ["offer.html", "Offer (HTML)"],
];
