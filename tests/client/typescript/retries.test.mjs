// Against a server of the test's own, which answers, refuses and breaks off as it is told.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { test } from "node:test";
import { Client, Overloaded, RequestError, ServiceError, Unreachable } from "gleaner-client";

const DOCUMENT = { id: "0", entities: [], error: null };
const GOOD = [200, {}, JSON.stringify({ model: {}, documents: [DOCUMENT], timing: {} })];
const problem = (status, code) => JSON.stringify({ status, code, detail: "A sentence.", title: "", type: "" });
const refused = (wait) => [429, wait === undefined ? {} : { "Retry-After": wait }, problem(429, "queue_full")];
const BREAK = "break";

/** A server that gives these answers one after the other, and the client of it. */
async function told(t, answers, options = {}) {
  const bodies = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    bodies.push(body);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer === BREAK) return request.socket.destroy();
    const [status, headers, text, breaks] = answer;
    response.writeHead(status, { ...headers, "X-Request-Id": "r1" });
    response.write(text);
    if (breaks) setTimeout(() => request.socket.destroy(), 50);
    else if (breaks !== null) response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { client: new Client({ url: `http://127.0.0.1:${server.address().port}/`, key: "k", ...options }), bodies };
}

test("refusals and broken connections are sent again as they were", async (t) => {
  const { client, bodies } = await told(t, [refused("0"), BREAK, [503, {}, "<html>"], GOOD]);
  assert.equal((await client.extract("Jane")).id, "0");
  assert.equal(bodies.length, 4);
  assert.deepEqual(new Set(bodies), new Set(['{"text":"Jane","offsets":"utf16"}']));
});

test("files are sent again too", async (t) => {
  const { client, bodies } = await told(t, [refused("0"), GOOD]);
  await client.extract(new Blob(["Jane"]), { labels: ["A", "B"], include_text: true });
  assert.equal(bodies.length, 2);
  for (const body of bodies) assert.match(body, /A,B[^]*true[^]*/);
});

test("Retry-After is waited for, and no more than half of it is added", async (t) => {
  const { client } = await told(t, [refused("1"), GOOD]);
  const begun = performance.now();
  await client.extract("Jane");
  const seconds = (performance.now() - begun) / 1_000;
  assert.ok(seconds >= 0.99 && seconds < 2.5, String(seconds));
});

for (const wait of ["120", new Date(Date.now() + 3_600_000).toUTCString()])
  test(`a wait beyond the budget is an error that says how long: ${wait.length}`, async (t) => {
    const { client, bodies } = await told(t, [refused(wait)]);
    await assert.rejects(client.extract("Jane"), (error) => {
      assert.ok(error instanceof Overloaded);
      assert.deepEqual([error.code, error.status, error.requestId], ["queue_full", 429, "r1"]);
      return error.retryAfterSeconds > 100;
    });
    assert.equal(bodies.length, 1);
  });

test("the deadline ends the retries", async (t) => {
  const { client, bodies } = await told(t, [refused("2")]);
  await assert.rejects(client.extract("Jane", { deadline_ms: 1_000 }), Overloaded);
  assert.equal(bodies.length, 1);
});

test("retries can be turned off, and end", async (t) => {
  const off = await told(t, [refused("0"), GOOD], { retries: { seconds: 0 } });
  await assert.rejects(off.client.extract("Jane"), Overloaded);
  const few = await told(t, [refused("0")], { retries: { tries: 3 } });
  await assert.rejects(few.client.extract("Jane"), Overloaded);
  assert.equal(few.bodies.length, 3);
});

const ANSWERS = [
  [[422, {}, problem(422, "of_the_future")], RequestError, "of_the_future"],
  [[422, {}, problem(422, "too_long_for_deadline")], RequestError, "too_long_for_deadline"],
  [[500, {}, problem(500, "model_error")], ServiceError, "model_error"],
  [[404, {}, "<html>"], Unreachable, "unexpected_answer"],
  [[200, {}, "<html>"], Unreachable, "unexpected_answer"],
  [[200, {}, '{"hello": 1}'], Unreachable, "unexpected_answer"],
];
for (const [answer, kind, code] of ANSWERS)
  test(`${answer[0]} ${code} is not sent again`, async (t) => {
    const { client, bodies } = await told(t, [answer]);
    await assert.rejects(client.extract("Jane"), (error) => error.constructor === kind && error.code === code);
    assert.equal(bodies.length, 1);
  });

test("nobody there is Unreachable", async () => {
  const client = new Client({ url: "http://127.0.0.1:9", retries: { triesUnanswered: 1 } });
  await assert.rejects(client.extract("Jane"), (error) => error instanceof Unreachable && error.code === "unreachable");
});

test("a signal ends a request and a wait with its own reason", async (t) => {
  const waiting = await told(t, [refused("30")]);
  await assert.rejects(waiting.client.extract("Jane", { signal: AbortSignal.timeout(300) }), { name: "TimeoutError" });
  const silent = await told(t, [[200, {}, "", null]]);
  const reason = new Error("enough");
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 200);
  await assert.rejects(silent.client.extract("Jane", { signal: controller.signal }), reason);
  await assert.rejects(silent.client.extract("Jane", { signal: AbortSignal.abort(reason) }), reason);
  assert.equal(silent.bodies.length, 1);
});

const line = (id) => `${JSON.stringify({ model: {}, document: { ...DOCUMENT, id }, timing: {} })}\n`;

test("a stream is retried until it begins, and its end by a fault is an error", async (t) => {
  const { client, bodies } = await told(t, [refused("0"), [200, {}, line("a"), true]]);
  const seen = [];
  await assert.rejects(async () => {
    for await (const { document } of client.stream(["Jane", "Doe"])) seen.push(document.id);
  }, Unreachable);
  assert.deepEqual(seen, ["a"]);
  assert.equal(bodies.length, 2);
});

test("a signal ends a stream", async (t) => {
  const { client } = await told(t, [[200, {}, line("a"), null]]);
  const controller = new AbortController();
  const reason = new Error("enough");
  await assert.rejects(async () => {
    for await (const { document } of client.stream(["Jane", "Doe"], { signal: controller.signal }))
      if (document.id === "a") controller.abort(reason);
  }, reason);
});
