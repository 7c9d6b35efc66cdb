import assert from "node:assert/strict";
import { test } from "node:test";

import { readEvents, SseParser } from "../sse.js";

const TEXTS = ["| a | b |\n|--", "-|", " lead", "\n\n", "\r\n", "rising 🌊 tide", "é\u0301 \u2028 end"];

function streamOf(texts, lineEnd = "\n") {
  return texts
    .map((text, index) => `event: sentence${lineEnd}data: ${JSON.stringify({ index, text })}${lineEnd}${lineEnd}`)
    .join("");
}

async function read(pieces) {
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const events = [];
  for await (const event of readEvents(body)) events.push(event);
  return events;
}

function textsOf(events) {
  return events.map(({ data }) => JSON.parse(data).text);
}

for (const [name, lineEnd] of [["LF", "\n"], ["CRLF", "\r\n"], ["CR", "\r"]]) {
  test(`c090 texts arrive byte for byte, lines ending in ${name}`, async () => {
    const events = await read([new TextEncoder().encode(streamOf(TEXTS, lineEnd))]);
    assert.deepEqual(textsOf(events), TEXTS);
  });

  test(`c091 a stream cut at every byte reads the same, lines ending in ${name}`, async () => {
    const bytes = new TextEncoder().encode(streamOf(TEXTS, lineEnd));
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const events = await read([bytes.slice(0, cut), bytes.slice(cut)].filter((piece) => piece.length > 0));
      assert.deepEqual(textsOf(events), TEXTS, `cut at byte ${cut}`);
    }
    const events = await read([...bytes].map((byte) => Uint8Array.of(byte)));
    assert.deepEqual(textsOf(events), TEXTS, "one byte at a time");
  });
}

test("several events in one piece come in order, with their names", () => {
  const parser = new SseParser();
  const events = parser.push('event: a\ndata: 1\n\nevent: b\ndata: 2\n\ndata: 3\n\nevent: c\nda');
  assert.deepEqual(events, [
    { name: "a", data: "1" },
    { name: "b", data: "2" },
    { name: "message", data: "3" },
  ]);
  assert.deepEqual(parser.push("ta: 4\n\n"), [{ name: "c", data: "4" }]);
});

test("comments, unknown fields and events without data are passed over", () => {
  const parser = new SseParser();
  assert.deepEqual(parser.push(": still here\n\nevent: a\n\nid: 7\nretry: 10\ndata:x\ndata: y\n\n"), [
    { name: "message", data: "x\ny" },
  ]);
});

test("only one space after the colon belongs to the format", () => {
  assert.deepEqual(new SseParser().push("data:  two\n\n"), [{ name: "message", data: " two" }]);
});

test("an event that the end of the stream leaves incomplete is not returned", async () => {
  const events = await read([new TextEncoder().encode("data: 1\n\ndata: 2\n")]);
  assert.deepEqual(events, [{ name: "message", data: "1" }]);
});

test("leaving the loop closes the stream", async () => {
  let closed = false;
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode("data: 1\n\n"));
    },
    cancel() {
      closed = true;
    },
  });
  for await (const event of readEvents(body)) {
    assert.equal(event.data, "1");
    break;
  }
  assert.ok(closed);
});
