// Requests to this service, with the key if there is one. Whatever goes wrong becomes a sentence.

const KEY = "gleaner-key";

export class Problem extends Error {
  /** `retry`: after how many seconds the same may be asked again; null where waiting does not help. */
  constructor(sentence, status, code, retry = null) {
    super(sentence);
    Object.assign(this, { status, code, retry });
  }
}

export const key = () => sessionStorage.getItem(KEY);
export const keepKey = (value) => sessionStorage.setItem(KEY, value);

let onLocked = () => {};
export function whenLocked(callback) { onLocked = callback; }

function sentence(said) {
  const detail = said.detail || said.title || "The service refused the request";
  const first = detail.charAt(0).toUpperCase() + detail.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}

async function problemOf(answer) {
  let said = {};
  try { said = await answer.json(); } catch { said = { detail: `The service answered with status ${answer.status}` }; }
  const problem = new Problem(sentence(said), answer.status, said.code, answer.headers.get("Retry-After"));
  if (answer.status === 401 || answer.status === 403) onLocked(problem);
  return problem;
}

/** The answer, if it is a good one; otherwise a Problem is thrown. */
export async function ask(path, options = {}) {
  const headers = new Headers(options.headers);
  if (key()) headers.set("Authorization", `Bearer ${key()}`);
  let answer;
  try {
    answer = await fetch(path, { ...options, headers, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The service cannot be reached.", 0, "unreachable");
  }
  if (!answer.ok) throw await problemOf(answer);
  return answer;
}

export const askJson = async (path, options) => (await ask(path, options)).json();

let asked;
/** What the service says at its door, asked once: the limits of a document, and whether OCR is there. */
export const entrance = () => (asked ??= askJson("/console/entrance"));

/** An id for a request of ours, by which its progress is asked for. */
export const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The longest deadline that a request may have: a person watches the progress, and leaves when they like. */
const DEADLINE_MS = 3_600_000;

/** The answer to one document; `source`: {file} or {text}; `id`: what the request is called, if it is to be watched. */
export async function extract(source, options, signal, id = newId()) {
  const query = new URLSearchParams({ include_text: "true", deadline_ms: DEADLINE_MS, ...options });
  const body = source.file
    ? { body: source.file, headers: { "Content-Type": source.type } }
    : { body: JSON.stringify({ text: source.text }), headers: { "Content-Type": "application/json" } };
  body.headers["X-Request-Id"] = id;
  const answer = await ask(`/extract?${query}`, { method: "POST", signal, ...body });
  const found = await answer.json();
  return { ...found, document: found.documents[0], request: answer.headers.get("X-Request-Id") };
}

/** A page of a file as a picture: {url, width, height, pages}, lengths in the unit of its boxes. */
export async function picture({ file, type, isDrawn }, page, width, signal) {
  const answer = await ask(`/console/picture?page=${page}&width=${width}`, { method: "POST", body: file, signal,
    headers: { "Content-Type": isDrawn ? "application/pdf" : type } });
  const [across, down, pages] = answer.headers.get("X-Page").split(" ").map(Number);
  return { url: URL.createObjectURL(await answer.blob()), width: across, height: down, pages };
}
