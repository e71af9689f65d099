/** Types of the service's answers and options; those that are not here are in openapi.ts, which is generated. */

import type { components } from "./openapi.js";

/** The schemas of the service's OpenAPI document, by name. */
export type Schemas = components["schemas"];

/** Options of a request; `signal` ends it and its retries. `offsets` is `utf16` unless it is given. */
export type ExtractOptions = Omit<Schemas["ExtractRequest"], "text" | "pages" | "documents"> & { signal?: AbortSignal };
export type RedactOptions = Omit<Schemas["RedactRequest"], "text" | "pages" | "documents" | "raw"> & { signal?: AbortSignal };

export type ExtractAnswer = Schemas["ExtractResponse"];
export type ExtractedDocument = Schemas["ExtractedDocument"];
export type Entity = Schemas["Entity"];
export type Field = Schemas["Field"];
export type Fields = Schemas["Fields"];
export type Paper = Schemas["Paper"];
export type Problem = Schemas["Error"];
/** One line of a stream: a document as soon as it is finished. */
export type StreamedDocument = Schemas["ExtractLine"];

export interface RedactedFile {
  media_type: string;
  data: Uint8Array;
}
/** A document without what was found in it: `text`, or of a PDF or picture `file`, whose base64 is decoded. */
export type RedactedDocument = Omit<Schemas["RedactedDocument"], "file"> & { file: RedactedFile | null };
export type RedactAnswer = Omit<Schemas["RedactResponse"], "documents"> & { documents: RedactedDocument[] };

export type Models = Schemas["Models"];
