// Against a real service with the built-in model, at GLEANER_URL; SAMPLES: the folder of the invoice.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Client, RequestError, ok } from "gleaner-client";

const client = new Client({ url: process.env.GLEANER_URL });
const invoice = await readFile(join(process.env.SAMPLES, "invoice.pdf"));
const TEXT = "Jane Doe, jane@acme.example, Berlin";

const labels = (document) => document.entities.map((each) => each.label);

for (const before of ["", "😀 ", "𝔸𝔹 — ", "👩‍👩‍👧 é ", "\ud800 ", "\udc00\ud800 "])
  test(`offsets are JavaScript's behind ${JSON.stringify(before)}`, async () => {
    const document = await client.extract(before + TEXT);
    assert.ok(labels(document).includes("EMAIL"));
    for (const { text, start, end } of document.entities) assert.equal((before + TEXT).slice(start, end), text);
  });

test("offsets are code points where they are asked for", async () => {
  const document = await client.extract(`😀 ${TEXT}`, { offsets: "codepoint", labels: ["EMAIL"] });
  assert.equal(document.entities[0].start, 2 + TEXT.indexOf("jane@"));
});

const files = {
  "a Buffer": invoice,
  "a Uint8Array": new Uint8Array(invoice),
  "an ArrayBuffer": new Uint8Array(invoice).buffer,
  "a Blob": new Blob([invoice]),
  "a File": new File([invoice], "bill.pdf"),
  "bytes with a name": { data: invoice, name: "bill.pdf" },
  "bytes with a type": { data: invoice, name: "bill", mediaType: "application/pdf" },
};
for (const [kind, file] of Object.entries(files))
  test(`${kind} is a file`, async () => {
    const document = await client.extract(file, { labels: ["IBAN", "TOTAL_AMOUNT"], fields: true });
    assert.ok(labels(document).includes("IBAN"));
    assert.equal(document.entities[0].page, 1);
    assert.equal(document.id, file.name ?? "0");
    assert.equal(document.fields.kind, "invoice");
  });

test("each document of a batch has its own error", async () => {
  const rtf = { data: Buffer.from("{\\rtf1 hello}"), name: "a.rtf" };
  const { documents } = await client.extractBatch([invoice, rtf]);
  assert.ok(labels(ok(documents[0])).includes("IBAN"));
  assert.throws(() => ok(documents[1]), (error) => error instanceof RequestError && error.status === 415);
});

test("texts keep their ids, also alone", async () => {
  const { documents } = await client.extractBatch([{ id: "a", text: TEXT }, TEXT]);
  assert.deepEqual(documents.map(({ id }) => id), ["a", "1"]);
  assert.equal((await client.extract({ id: "b", text: TEXT })).id, "b");
});

test("entities of pages have their words", async () => {
  const box = (number) => [60 * number, 10, 60 * number + 55, 22];
  const words = ["Jane", "Doe,", "jane@acme.example"].map((text, number) => ({ text, box: box(number) }));
  const document = await client.extract({ id: "p", pages: [{ width: 595, height: 842, words }] }, { labels: ["EMAIL"] });
  assert.equal(document.id, "p");
  assert.deepEqual(document.entities.map(({ page, words, boxes }) => [page, words, boxes]), [[1, [2, 3], [box(2)]]]);
});

test("a picture of a page may be bytes", async () => {
  const words = [{ text: "jane@acme.example\ud800", box: [0, 0, 9, 1] }];
  const picture = new Uint8Array(20_000).fill(0xff).subarray(3);
  picture.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  for (const image of [picture, Buffer.from(picture), picture.slice().buffer, Buffer.from(picture).toString("base64")]) {
    const { page_sizes, entities } = await client.extract({ pages: [{ width: 10, height: 5, words, image }] });
    assert.deepEqual([page_sizes, entities[0].label], [[[10, 5]], "EMAIL"]);
  }
  const bad = { pages: [{ width: 10, height: 5, words, image: new Uint8Array([1, 2]) }] };
  await assert.rejects(client.extract(bad), (error) => error instanceof RequestError && /page 1, image/.test(error.message));
});

test("pages that are none are refused by the service, which says where", async () => {
  for (const page of [null, { width: 1, height: 1 }, { width: 1, height: 1, words: [{ content: "a", box: [0, 0, 1, 1] }] }])
    await assert.rejects(client.extract({ pages: [page] }), (error) => error instanceof RequestError && /^page 1/.test(error.message));
});

test("a stream gives each document, with signs that may end lines", async () => {
  const texts = Array.from({ length: 20 }, (_, number) => `${number}\u2028\u0085 ${TEXT}`);
  const seen = new Map();
  for await (const { document, model } of client.stream(texts, { include_text: true })) {
    assert.equal(model.name, "documents");
    seen.set(document.id, document.text);
  }
  assert.deepEqual(texts.map((_, number) => seen.get(String(number))), texts);
});

test("a stream may be left", async () => {
  for await (const { document } of client.stream([TEXT, TEXT])) {
    assert.ok(document);
    break;
  }
  assert.ok(await client.extract(TEXT));
});

test("a text and a PDF are redacted", async () => {
  const text = await client.redact(`😀 ${TEXT}`, { labels: ["EMAIL"] });
  assert.equal(text.text, "😀 Jane Doe, <EMAIL>, Berlin");
  const [{ new_start, new_end }] = text.entities;
  assert.equal(text.text.slice(new_start, new_end), "<EMAIL>");
  const { documents } = await client.redactBatch([new File([invoice], "bill.pdf")], { labels: ["IBAN"] });
  assert.equal(new TextDecoder().decode(documents[0].file.data.slice(0, 5)), "%PDF-");
});

test("errors are typed", async () => {
  const cases = [
    [TEXT, { labels: ["NOBODY"] }, "invalid_options", 422],
    [TEXT, { model: "nothing" }, "unknown_model", 404],
    [Buffer.from("%PDF-1.7\nnothing"), {}, "unreadable_document", 422],
  ];
  for (const [document, options, code, status] of cases)
    await assert.rejects(client.extract(document, options), (error) => {
      assert.ok(error instanceof RequestError);
      assert.deepEqual([error.code, error.status, error.name], [code, status, "RequestError"]);
      assert.ok(error.message.length > 10);
      assert.ok(error.requestId);
      return true;
    });
});

test("an address of this machine needs no scheme, another one does", async () => {
  const bare = process.env.GLEANER_URL.replace("http://", "");
  assert.equal((await new Client({ url: bare }).models()).models[0].name, "documents");
  for (const url of ["gleaner:8080", "10.0.0.5", "ws://gleaner:8080", "localhost.example", ""])
    assert.throws(() => new Client({ url }), { name: "TypeError", message: /"http:\/\/.*" or "https:/ });
});

test("the name of a file as a text is sent with a warning", () => {
  const code = `import { Client } from "gleaner-client";
    const client = new Client({ url: process.env.GLEANER_URL });
    for (const source of ["bill.pdf", "see bill.pdf", { text: "bill.pdf" }]) await client.extract(source);`;
  const { stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  assert.equal(stderr.split("bill.pdf").length, 3, stderr);
});

test("what is no document is refused before it is sent", async () => {
  for (const wrong of [4, {}, { data: {}, name: "a" }, []]) await assert.rejects(client.extract(wrong), TypeError);
  await assert.rejects(client.extractBatch([]), TypeError);
  await assert.rejects(client.extractBatch(["a", invoice]), TypeError);
});

test("the models are listed", async () => {
  assert.equal((await client.models()).models[0].name, "documents");
});
