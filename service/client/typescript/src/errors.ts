/** Errors of the client, by whose fault they are; `code` is the service's, as in service/API.md. */

import type { Problem } from "./answers.js";

export interface ErrorDetails {
  code?: string;
  status?: number;
  retryAfterSeconds?: number | undefined;
  requestId?: string | undefined;
  cause?: unknown;
}

/** A request or a document that failed; `message` is one sentence, `code` is stable. */
export class GleanerError extends Error {
  override readonly name: string = "GleanerError";
  readonly code: string;
  /** Of HTTP; undefined: there was no answer. */
  readonly status: number | undefined;
  /** After how long the same request may succeed, where the service says so. */
  readonly retryAfterSeconds: number | undefined;
  /** The answer's `X-Request-Id`, by which the service's log names it. */
  readonly requestId: string | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.code = details.code ?? "internal_error";
    this.status = details.status;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.requestId = details.requestId;
  }
}

/** The request or the document is wrong: sending the same again gives the same answer. */
export class RequestError extends GleanerError {
  override readonly name = "RequestError";
}

/** Too much work, or the service is starting or ending: the same request may succeed later. */
export class Overloaded extends GleanerError {
  override readonly name = "Overloaded";
}

/** The service's own fault. */
export class ServiceError extends GleanerError {
  override readonly name: string = "ServiceError";
}

/** Nothing answers at this address, or something that is no Gleaner service. */
export class Unreachable extends ServiceError {
  override readonly name = "Unreachable";
}

const TRY_LATER = new Set([429, 502, 503, 504]);

function kindOf(status: number): typeof RequestError | typeof Overloaded | typeof ServiceError {
  if (TRY_LATER.has(status)) return Overloaded;
  return status >= 400 && status < 500 ? RequestError : ServiceError;
}

/** The error of one document of a batch. */
export function errorOf(problem: Problem, details: ErrorDetails = {}): GleanerError {
  return new (kindOf(problem.status))(problem.detail, { ...details, code: problem.code, status: problem.status });
}

/** The error that a response is: the service's own, or that of a proxy or a stranger at this address. */
export async function errorOfResponse(response: Response): Promise<GleanerError> {
  const retryAfterSeconds = secondsOf(response.headers.get("retry-after"));
  const details = { retryAfterSeconds, requestId: response.headers.get("x-request-id") ?? undefined };
  const problem: unknown = await response.json().catch(() => undefined);
  if (isProblem(problem)) return errorOf({ ...problem, status: response.status }, details);
  return strange(response, details);
}

/** The error of an answer that no Gleaner service wrote: a proxy's refusal, or a wrong address. */
export function strange(response: Response, details: ErrorDetails = {}): GleanerError {
  const message = `What answers at ${response.url} is another service (status ${response.status}).`;
  const kind = kindOf(response.status) === Overloaded ? Overloaded : Unreachable;
  return new kind(message, { ...details, code: "unexpected_answer", status: response.status });
}

function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "code" in value && "detail" in value;
}

/** Seconds, or those until a date (RFC 9110, section 10.2.3). */
function secondsOf(written: string | null): number | undefined {
  if (written === null) return undefined;
  if (/^\d{1,8}$/.test(written)) return Number(written);
  const when = Date.parse(written);
  return Number.isNaN(when) ? undefined : Math.max(0, (when - Date.now()) / 1_000);
}
