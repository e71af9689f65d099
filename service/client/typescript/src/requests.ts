/** Bodies of requests, and when a failed one is sent again. */

import type { Schemas } from "./answers.js";
import { Overloaded, type GleanerError } from "./errors.js";

/** A text with the id that its result has; without one it is the document's place in the request. */
export interface TextSource {
  text: string;
  id?: string;
}

/** A page of words with their boxes; `image`: the bytes of its picture file, or these in base64. */
export type PageOfWords = Omit<Schemas["InputPage"], "image"> & { image?: string | ArrayBuffer | Uint8Array | null };

/** Pages of words in place of a text; their entities have `words`. */
export interface PagesSource {
  pages: PageOfWords[];
  id?: string;
}

/** A file with the name that its result has as id. */
export interface FileSource {
  data: Blob | ArrayBuffer | Uint8Array;
  name: string;
  /** Needed only where neither the name's ending nor the bytes say it. */
  mediaType?: string;
}

/** One document: a text, pages of words, or a file such as a `File` of a form, a `Blob`, or bytes (a `Buffer`). */
export type Source = string | TextSource | PagesSource | Blob | ArrayBuffer | Uint8Array | FileSource;

/** The body for documents: texts and pages (JSON), or files (a form); bytes without a name have their place as one. */
export function bodyOf(sources: readonly Source[], options: object, batch: boolean): string | FormData {
  const chosen = Object.entries(options).filter(([, value]) => value !== undefined && value !== null);
  const texts = sources.map(textOf).filter((each) => each !== undefined);
  const [first] = texts;
  if (first === undefined) return formOf(sources.map(fileOf), chosen);
  if (texts.length < sources.length) throw new TypeError("one request holds texts and pages, or files, not both");
  const documents = batch || first.id !== undefined ? { documents: texts } : first;
  return JSON.stringify({ ...documents, ...Object.fromEntries(chosen) }, inJson);
}

const FILE_NAME =
  /^\S{1,1000}\.(?:pdf|docx?|html?|txt|md|xml|png|jpe?g|tiff?|webp|bmp|gif|odt|rtf|xlsx?|pptx?|csv|eml|hocr|json)$/i;

function textOf(source: Source): TextSource | PagesSource | undefined {
  if (typeof source === "string") {
    if (FILE_NAME.test(source))
      console.warn(`"${source}" is sent as a text: for a file pass { data, name }, for this text { text: "${source}" }.`);
    return { text: source };
  }
  return isPages(source) || isText(source) ? source : undefined;
}

/** A value as JSON has it: bytes in base64; halves of characters, as `slice` leaves them, as U+FFFD, which is as long. */
function inJson(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const given = this[name]; // A Buffer comes here as what its `toJSON` makes of it.
  if (given instanceof ArrayBuffer) return base64(new Uint8Array(given));
  if (given instanceof Uint8Array) return base64(given);
  return typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value;
}

const AT_ONCE = 8_192; // bytes that are arguments of one call

function base64(bytes: Uint8Array): string {
  let characters = "";
  for (let at = 0; at < bytes.length; at += AT_ONCE) characters += String.fromCharCode(...bytes.subarray(at, at + AT_ONCE));
  return btoa(characters);
}

function isText(source: object): source is TextSource {
  return "text" in source && typeof source.text === "string";
}

function isPages(source: object): source is PagesSource {
  return "pages" in source && Array.isArray(source.pages);
}

function fileOf(source: Source, number: number): { blob: Blob; name: string } {
  const { data, name, mediaType } = isNamed(source) ? source : { data: source, name: undefined, mediaType: undefined };
  if (!(data instanceof Blob || data instanceof ArrayBuffer || ArrayBuffer.isView(data)))
    throw new TypeError("a document is a text, { pages }, a Blob, an ArrayBuffer, bytes, or { data, name }");
  const isReady = data instanceof Blob && mediaType === undefined;
  const blob = isReady ? data : new Blob([data as BlobPart], { type: mediaType ?? "" });
  return { blob, name: name ?? (data instanceof Blob && "name" in data ? String(data.name) : String(number)) };
}

function isNamed(source: Source): source is FileSource {
  return typeof source === "object" && source !== null && "data" in source;
}

function formOf(files: { blob: Blob; name: string }[], options: [string, unknown][]): FormData {
  if (files.length === 0) throw new TypeError("one request holds at least one text or file");
  const form = new FormData();
  for (const { blob, name } of files) form.append("file", blob, name);
  for (const [name, value] of options) form.append(name, written(value));
  return form;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?(?:\/.*)?$/i;

/** A service's URL without the slash at its end; an address of this machine may come without `http://`. */
export function urlOf(url: string): string {
  const whole = LOOPBACK.test(url) ? `http://${url}` : url;
  const bare = /^(?:.*\/\/)?(.*)$/.exec(url)?.[1] || "127.0.0.1:8080";
  if (!/^https?:\/\//i.test(whole))
    throw new TypeError(`"${url}" is no URL of a service: write "http://${bare}" or "https://${bare}"`);
  return whole.replace(/\/+$/, "");
}

/** An option as the field of a form: a list joined by commas, an object or a list with commas within as JSON. */
function written(value: unknown): string {
  const isJson = Array.isArray(value) ? value.some((each) => String(each).includes(",")) : typeof value === "object";
  return isJson ? JSON.stringify(value) : String(value);
}

/** Limits of retries: seconds from the first try and number of tries, fewer where nobody answers. */
export interface RetryBudget {
  seconds: number;
  tries: number;
  triesUnanswered: number;
}

export const RETRIES: RetryBudget = { seconds: 60, tries: 8, triesUnanswered: 4 };
const FIRST_SECONDS = 0.2;
const LONGEST_SECONDS = 10;
/** Most of a wait that is added to it by chance, so that those refused together do not come back together. */
const CHANCE = 0.5;

/** How long to wait before the next try; undefined: give up. `error`: undefined where the connection broke. */
export function waitSeconds(
  budget: RetryBudget,
  tries: number,
  spentSeconds: number,
  error: GleanerError | undefined,
  chance: number = Math.random(),
): number | undefined {
  if (tries >= (error === undefined ? budget.triesUnanswered : budget.tries)) return undefined;
  if (error !== undefined && !(error instanceof Overloaded)) return undefined;
  const said = error?.retryAfterSeconds ?? Math.min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** (tries - 1));
  const wait = said * (1 + CHANCE * chance);
  return spentSeconds + wait < budget.seconds ? wait : undefined;
}

/** Wait, unless the signal ends it: then its reason is thrown. */
export function sleep(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const ended = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", ended);
      resolve();
    }, seconds * 1_000);
    signal?.addEventListener("abort", ended, { once: true });
  });
}
