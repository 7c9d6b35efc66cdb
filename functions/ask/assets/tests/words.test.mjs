import assert from "node:assert/strict";
import { test } from "node:test";

import { corpusName, count, duration, failureSentences } from "../words.js";

test("durations are rounded to what a reader can use", () => {
  const shown = [0.2, 8.4, 999, 1000, 1440, 89_000, 3 * 60_000].map(duration);
  assert.deepEqual(shown, ["<1 ms", "8 ms", "999 ms", "1 s", "1.4 s", "89 s", "3 min"]);
});

test("one and many", () => {
  assert.deepEqual([count(1, "quote"), count(0, "quote"), count(1200, "quote")], ["1 quote", "0 quotes", "1,200 quotes"]);
});

test("a corpus is named with its version once", () => {
  assert.equal(corpusName({ title: "PostgreSQL 17", label: "17" }), "PostgreSQL 17");
  assert.equal(corpusName({ title: "Handbook", label: "2026.2" }), "Handbook, version 2026.2");
  assert.equal(corpusName({ title: "Handbook" }), "Handbook");
});

test("c273 a failure is said in fixed words whatever its code is", () => {
  const sentences = failureSentences({ code: "relation \"chunks\" does not exist", requestId: "r-1" });
  assert.deepEqual(sentences, ["Something failed on our side.", "Request r-1."]);
});

test("a failure says when it is worth trying again", () => {
  assert.match(failureSentences({ code: "provider", retryAfterSeconds: 30 })[1], /in 30 s\.$/);
  assert.match(failureSentences({ code: "visitor_quota", resetsAt: "2026-12-01T00:00:00Z" })[1], /again from \w+day/);
});
