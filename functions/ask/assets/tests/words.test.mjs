import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { corpusFacts, corpusName, count, duration, failureSentences, STAGES, statusNotices } from "../words.js";

// The body that the service's own test has recorded, below the snapshot's head.
function recorded(name) {
  const file = new URL(`../../tests/it/snapshots/it__requests__${name}.snap`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8").split("\n---\n")[1]);
}

test("durations are rounded to what a reader can use", () => {
  const shown = [0.2, 8.4, 999, 1000, 1440, 89_000, 3 * 60_000].map(duration);
  assert.deepEqual(shown, ["<1 ms", "8 ms", "999 ms", "1 s", "1.4 s", "89 s", "3 min"]);
});

test("one and many", () => {
  assert.deepEqual([count(1, "quote"), count(0, "quote"), count(1200, "quote")], ["1 quote", "0 quotes", "1,200 quotes"]);
});

test("a corpus is named with its version once", () => {
  assert.equal(corpusName({ title: "PostgreSQL 17", version: "17" }), "PostgreSQL 17");
  assert.equal(corpusName({ title: "Handbook", version: "2026.2" }), "Handbook, version 2026.2");
  assert.equal(corpusName({ title: "Handbook" }), "Handbook");
});

test("the status as the service sends it names its corpus and needs no notice", () => {
  const status = recorded("the_status_wakes_no_postgres");
  const [name, size, loaded, generator] = corpusFacts(status.corpus, status.providers);
  assert.equal(name, "PostgreSQL, version 17");
  assert.equal(size, "35 pages in 610 passages");
  assert.match(loaded, /^loaded \d+ \w+ \d{4}$/);
  assert.equal(generator, "answers in the documentation's own sentences");
  assert.deepEqual(statusNotices(status), []);
});

for (const [name, body, notice] of [
  ["no corpus", { error: { code: "unavailable", message: "…", request_id: "r-1" } }, /^No documentation has been loaded yet/],
  ["off", { mode: "off" }, /switched off/],
  ["read-only", { mode: "read-only" }, /^New questions are switched off/],
  ["read-only, where nothing is left to anybody", { mode: "read-only", quota: { visitor: { limit: 20, remaining: 0 } } }, /^New/],
  ["nothing left", { mode: "live", quota: { visitor: { limit: 20, remaining: 0 } } }, /^You have used/],
]) {
  test(`a visitor is told: ${name}`, () => {
    const notices = statusNotices(body);
    assert.equal(notices.length, 1);
    assert.match(notices[0], notice);
  });
}

test("another error in the status's place is no notice: asking says what is wrong", () => {
  assert.deepEqual(statusNotices({ error: { code: "internal" } }), []);
});

test("every stage that the service reports has a name, and no other", () => {
  const stages = ["embed", "generate", "open", "rerank", "retrieve", "verify", "waking"];
  assert.deepEqual(Object.keys(STAGES).sort(), stages);
});

test("c273 a failure is said in fixed words whatever its code is", () => {
  const sentences = failureSentences({ code: "relation \"chunks\" does not exist", requestId: "r-1" });
  assert.deepEqual(sentences, ["Something failed on our side.", "Request r-1."]);
});

test("a failure says when it is worth trying again", () => {
  assert.match(failureSentences({ code: "provider", retryAfterSeconds: 30 })[1], /in 30 s\.$/);
  assert.match(failureSentences({ code: "visitor_quota", resetsAt: "2026-12-01T00:00:00Z" })[1], /again from \w+day/);
});
