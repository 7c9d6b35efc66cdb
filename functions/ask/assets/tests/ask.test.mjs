import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, AskFailure } from "../ask.js";

function answering(body, { status = 200, type = "text/event-stream", headers = {} } = {}) {
  const calls = [];
  const fetch = async (url, options) => {
    calls.push({ url, ...options });
    return new Response(body, { status, headers: { "content-type": type, ...headers } });
  };
  return { fetch, calls };
}

async function collect(service, question = "How long is the notice?") {
  const events = [];
  const onEvent = (name, data) => events.push([name, data]);
  const failure = await ask(question, { onEvent, fetch: service.fetch }).then(
    () => null,
    (error) => error,
  );
  assert.equal(service.calls.length, 1, "a question is sent once");
  return { events, failure };
}

test("hands on the events up to done, and sends only the question", async () => {
  const service = answering(
    'event: progress\ndata: {"stage":"embed","ms":8}\n\nevent: done\ndata: {"outcome":"answered"}\n\nevent: late\ndata: 1\n\n',
  );
  const { events, failure } = await collect(service, "Ω?");
  assert.equal(failure, null);
  assert.deepEqual(events, [
    ["progress", { stage: "embed", ms: 8 }],
    ["done", { outcome: "answered" }],
  ]);
  assert.equal(service.calls[0].url, "api/ask");
  assert.deepEqual(JSON.parse(service.calls[0].body), { question: "Ω?" });
});

test("c155 a stream without a final event is a failure", async () => {
  const { events, failure } = await collect(answering('event: sentence\ndata: {"index":0}\n\n'));
  assert.equal(events.length, 1);
  assert.ok(failure instanceof AskFailure);
  assert.equal(failure.code, "cut_off");
});

test("c172 a stream that breaks is a failure and is not asked for again", async () => {
  const body = new ReadableStream({
    pull(controller) {
      controller.error(new TypeError("network error"));
    },
  });
  const { failure } = await collect(answering(body));
  assert.equal(failure.code, "cut_off");
});

test("an error event carries its code, waiting time and request", async () => {
  const data = JSON.stringify({ code: "provider", message: "…", retry_after_s: 30, request_id: "r-1" });
  const { failure } = await collect(answering(`event: error\ndata: ${data}\n\n`));
  assert.deepEqual(
    [failure.code, failure.retryAfterSeconds, failure.requestId],
    ["provider", 30, "r-1"],
  );
});

test("a failure before the stream is read from its JSON", async () => {
  const body = JSON.stringify({ error: { code: "visitor_quota", message: "…", resets_at: "2026-12-01T00:00:00Z", request_id: "r-2" } });
  const { failure } = await collect(
    answering(body, { status: 429, type: "application/json", headers: { "retry-after": "3600" } }),
  );
  assert.deepEqual(
    [failure.code, failure.resetsAt, failure.retryAfterSeconds, failure.requestId],
    ["visitor_quota", "2026-12-01T00:00:00Z", 3600, "r-2"],
  );
});

for (const [status, type, body, code] of [
  [503, "text/html", "<h1>Service Unavailable</h1>", "busy"],
  [429, "text/plain", "Rate exceeded", "busy"],
  [429, "application/json", '{"Message":"Rate exceeded"}', "busy"],
  [502, "application/json", "{", "busy"],
  [500, "text/plain", "", "internal"],
  [200, "text/html", "<p>a sign-in page</p>", "unreadable"],
  [200, "text/event-stream", "event: done\ndata: {\n\n", "unreadable"],
]) {
  test(`${status} ${type} ${JSON.stringify(body)} is ${code}`, async () => {
    const { failure } = await collect(answering(body, { status, type }));
    assert.ok(failure instanceof AskFailure);
    assert.equal(failure.code, code);
  });
}

test("a service that is not there is unreachable", async () => {
  const fetch = async () => {
    throw new TypeError("fetch failed");
  };
  await assert.rejects(ask("q", { onEvent() {}, fetch }), { code: "unreachable" });
});

test("after an abort nothing more is handed on, and the reason is not a failure of the service", async () => {
  const controller = new AbortController();
  const service = answering('event: progress\ndata: {"stage":"embed"}\n\nevent: done\ndata: {}\n\n');
  const names = [];
  const onEvent = (name) => {
    names.push(name);
    controller.abort();
  };
  const asking = ask("q", { onEvent, fetch: service.fetch, signal: controller.signal });
  await assert.rejects(asking, { name: "AbortError" });
  assert.deepEqual(names, ["progress"]);
});

test("a mistake in the page is not taken for a broken connection", async () => {
  const service = answering('event: progress\ndata: {"stage":"embed"}\n\n');
  const onEvent = () => {
    throw new TypeError("a mistake");
  };
  await assert.rejects(ask("q", { onEvent, fetch: service.fetch }), { message: "a mistake" });
});
