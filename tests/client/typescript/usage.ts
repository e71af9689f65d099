// What is written with the package's types: compiled by tsc --strict, not run.
import { Client, GleanerError, ok, type Entity, type ExtractedDocument, type Fields } from "gleaner-client";

const client = new Client({ url: new URL("http://127.0.0.1:8080"), key: "k", retries: { seconds: 5 } });

export async function total(file: File, signal: AbortSignal): Promise<string | undefined> {
  const document: ExtractedDocument = await client.extract(file, { fields: true, min_score: 0.5, signal });
  const fields: Fields | null | undefined = document.fields;
  return fields?.roles["total_amount"]?.number;
}

export async function people(texts: string[]): Promise<string[]> {
  const found: Entity[] = [];
  for await (const { document } of client.stream(texts, { labels: ["PERSON"], priority: "batch" }))
    found.push(...ok(document).entities);
  return found.map(({ text, start, end, boxes }) => `${text} ${end - start} ${boxes[0]?.[0]}`);
}

export async function redacted(file: Blob): Promise<Blob> {
  const { file: made } = await client.redact(file, { mode: "mask", deadline_ms: 1_000 });
  return new Blob(made === null ? [] : [made.data as BlobPart], { type: made?.media_type ?? "" });
}

export async function places(): Promise<[number, number][]> {
  const page = { width: 1, height: 1, words: [{ text: "Jane", box: [0, 0, 0.5, 0.1] as [number, number, number, number] }] };
  const { entities } = await client.extract({ pages: [page, { ...page, image: new Uint8Array(4) }, { ...page, image: "YQ==" }] });
  return entities.flatMap(({ words }) => (words === undefined ? [] : [words]));
}

export function reason(error: unknown): string {
  return error instanceof GleanerError ? `${error.code} ${error.retryAfterSeconds ?? 0}` : "";
}

// @ts-expect-error: no option has this name.
void client.extract("Jane", { label: "PERSON" });
// @ts-expect-error: an answer with `raw` is no JSON.
void client.redact("Jane", { raw: true });
// @ts-expect-error: a number is no document.
void client.extract(4);
