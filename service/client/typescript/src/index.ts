/**
 * Client of a Gleaner service, for Node and browsers.
 *
 *     const client = new Client({ url: "http://127.0.0.1:8080" });
 *     const document = await client.extract("Jane Doe, Berlin", { labels: ["PERSON"] });
 */

import type {
  ExtractAnswer,
  ExtractOptions,
  ExtractedDocument,
  Models,
  Problem,
  RedactAnswer,
  RedactOptions,
  RedactedDocument,
  Schemas,
  StreamedDocument,
} from "./answers.js";
import { GleanerError, Unreachable, errorOf, errorOfResponse, strange } from "./errors.js";
import { RETRIES, bodyOf, sleep, urlOf, waitSeconds, type RetryBudget, type Source } from "./requests.js";

export type * from "./answers.js";
export type { FileSource, PageOfWords, PagesSource, RetryBudget, Source, TextSource } from "./requests.js";
export { GleanerError, Overloaded, RequestError, ServiceError, Unreachable } from "./errors.js";

export interface ClientOptions {
  /** Where the service is, such as `http://127.0.0.1:8080`; of this machine, `localhost:8080` will do. */
  url: string | URL;
  /** The API key, where one is needed. Do not put one into a page that others load. */
  key?: string;
  retries?: Partial<RetryBudget>;
  /** In place of the global one, for proxies and tests. */
  fetch?: typeof fetch;
}

/** A document, unless it failed: then its error is thrown. */
export function ok<Kind extends { error: Problem | null }>(document: Kind): Kind {
  if (document.error !== null) throw errorOf(document.error);
  return document;
}

/** A client of one service. Options have the service's own names (`min_score`, `deadline_ms` …). */
export class Client {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #retries: RetryBudget;
  readonly #fetch: typeof fetch;

  constructor({ url, key, retries, fetch: ask = fetch }: ClientOptions) {
    this.#url = urlOf(String(url));
    this.#headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
    this.#retries = { ...RETRIES, ...retries };
    this.#fetch = (...request) => ask(...request);
  }

  /** The entities of one document. */
  async extract(source: Source, options: ExtractOptions = {}): Promise<ExtractedDocument> {
    return only((await this.#post("/extract", [source], options, false, json<ExtractAnswer>)).documents);
  }

  /** The entities of several documents in one request, in their order; each may have an `error` (`ok` throws it). */
  extractBatch(sources: readonly Source[], options: ExtractOptions = {}): Promise<ExtractAnswer> {
    return this.#post("/extract", sources, options, true, json<ExtractAnswer>);
  }

  /** Several documents of one request, each as soon as it is finished; retried only until the answer begins. */
  async *stream(sources: readonly Source[], options: ExtractOptions = {}): AsyncGenerator<StreamedDocument, void> {
    const response = await this.#post("/extract", sources, options, true, (whole) => whole, "application/x-ndjson");
    for await (const line of lines(response, options.signal)) yield parsed<StreamedDocument>(line, response);
  }

  /** One document without the entities in it. */
  async redact(source: Source, options: RedactOptions = {}): Promise<RedactedDocument> {
    const { documents } = await this.#post("/redact", [source], options, false, json<Schemas["RedactResponse"]>);
    return only(documents.map(withFile));
  }

  /** Several documents without their entities; each may have an `error`. */
  async redactBatch(sources: readonly Source[], options: RedactOptions = {}): Promise<RedactAnswer> {
    const answer = await this.#post("/redact", sources, options, true, json<Schemas["RedactResponse"]>);
    return { ...answer, documents: answer.documents.map(withFile) };
  }

  /** The models that are served. */
  models(options: { signal?: AbortSignal } = {}): Promise<Models> {
    return this.#send("/models", { headers: this.#headers }, json<Models>, options.signal);
  }

  async #post<Result>(
    path: string,
    sources: readonly Source[],
    { signal, ...options }: ExtractOptions,
    batch: boolean,
    read: Read<Result>,
    accept = "application/json",
  ): Promise<Result> {
    const body = bodyOf(sources, { offsets: "utf16", ...options }, batch);
    const headers: Record<string, string> = { ...this.#headers, Accept: accept };
    if (typeof body === "string") headers["Content-Type"] = "application/json";
    return this.#send(path, { method: "POST", headers, body }, read, signal, options.deadline_ms ?? undefined);
  }

  /** What a response without an error is read as; tried again within the budget and the deadline. */
  async #send<Result>(
    path: string,
    request: RequestInit,
    read: Read<Result>,
    signal?: AbortSignal,
    deadlineMs = Infinity,
  ): Promise<Result> {
    const budget = { ...this.#retries, seconds: Math.min(this.#retries.seconds, deadlineMs / 1_000) };
    const begun = performance.now();
    for (let tries = 1; ; tries++) {
      let error: GleanerError;
      try {
        const response = await this.#fetch(this.#url + path, signal ? { ...request, signal } : request);
        if (response.ok) return await read(response);
        error = await errorOfResponse(response);
      } catch (cause) {
        error = broken(cause, signal);
      }
      const unanswered = error instanceof Unreachable && error.status === undefined;
      const spentSeconds = (performance.now() - begun) / 1_000;
      const wait = waitSeconds(budget, tries, spentSeconds, unanswered ? undefined : error);
      if (wait === undefined) throw error;
      await sleep(wait, signal);
    }
  }
}

type Read<Result> = (response: Response) => Result | Promise<Result>;

async function json<Answer>(response: Response): Promise<Answer> {
  return parsed<Answer>(await response.text(), response);
}

function parsed<Answer>(text: string, response: Response): Answer {
  try {
    const answer: unknown = JSON.parse(text);
    const isOurs = typeof answer === "object" && answer !== null && ("model" in answer || "models" in answer);
    if (isOurs) return answer as Answer;
  } catch {
    // Reported below.
  }
  throw strange(response);
}

/** The lines of a response as they come; leaving the loop ends the request. */
async function* lines(response: Response, signal?: AbortSignal): AsyncGenerator<string, void, void> {
  const reader = response.body?.getReader();
  if (reader === undefined) throw strange(response);
  const decoder = new TextDecoder();
  let begun = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => Promise.reject(broken(cause, signal)));
      if (done) return;
      begun += decoder.decode(value, { stream: true });
      if (!value.includes(NEWLINE)) continue;
      const whole = begun.split("\n");
      begun = whole.pop() ?? "";
      yield* whole;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

const NEWLINE = 10;

/** What `fetch` threw as an error of ours; the caller's own reason where its signal ended the request. */
function broken(cause: unknown, signal?: AbortSignal): GleanerError {
  signal?.throwIfAborted();
  if (cause instanceof GleanerError) return cause;
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const message = inner instanceof Error ? inner.message : String(inner);
  return new Unreachable(`The service does not answer: ${message}.`, { code: "unreachable", cause });
}

function only<Kind extends { error: Problem | null }>(documents: Kind[]): Kind {
  const [document] = documents;
  if (document === undefined) throw new Unreachable("The answer has no document.", { code: "unexpected_answer" });
  return ok(document);
}

function withFile({ file, ...document }: Schemas["RedactedDocument"]): RedactedDocument {
  if (file === null) return { ...document, file };
  const data = Uint8Array.from(atob(file.data), (character) => character.charCodeAt(0));
  return { ...document, file: { media_type: file.media_type, data } };
}
