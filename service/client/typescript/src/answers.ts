/** Types of the service's answers and options, by short names; all are those of its OpenAPI document (openapi.ts). */

import type { paths } from "./openapi.js";

type Answer<Path extends "/extract" | "/redact"> =
  paths[Path]["post"]["responses"][200]["content"]["application/json"];
type Body<Path extends "/extract" | "/redact"> = paths[Path]["post"]["requestBody"]["content"]["application/json"];

/** Options of a request; `signal` ends it and its retries. `offsets` is `utf16` unless it is given. */
export type ExtractOptions = Partial<Omit<Body<"/extract">, "text" | "documents">> & { signal?: AbortSignal };
export type RedactOptions = Partial<Omit<Body<"/redact">, "text" | "documents" | "raw">> & { signal?: AbortSignal };

export type ExtractAnswer = Answer<"/extract">;
export type ExtractedDocument = ExtractAnswer["documents"][number];
export type Entity = ExtractedDocument["entities"][number];
export type Problem = NonNullable<ExtractedDocument["error"]>;
export type Fields = NonNullable<ExtractedDocument["fields"]>;
/** One line of a stream: a document as soon as it is finished. */
export type StreamedDocument = Omit<ExtractAnswer, "documents"> & { document: ExtractedDocument };

export interface RedactedFile {
  media_type: string;
  data: Uint8Array;
}
/** A document without what was found in it: `text`, or of a PDF `file`, whose base64 is decoded. */
export type RedactedDocument = Omit<Answer<"/redact">["documents"][number], "file"> & { file: RedactedFile | null };
export type RedactAnswer = Omit<Answer<"/redact">, "documents"> & { documents: RedactedDocument[] };
/** The answer of /redact as it is sent. */
export type SentRedactAnswer = Answer<"/redact">;

export type Models = paths["/models"]["get"]["responses"][200]["content"]["application/json"];
