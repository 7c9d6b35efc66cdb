import assert from "node:assert/strict";
import { test } from "node:test";

import { cutAtQuote, unitIndex } from "../offsets.js";

function scalarOffsets(text, quote) {
  const before = text.slice(0, text.indexOf(quote));
  const start = [...before].length;
  return { quote, start, end: start + [...quote].length };
}

for (const [name, text, quote] of [
  ["plain text", "Notice is 30 days.", "30 days"],
  ["an emoji before the quote", "🌊🌊 Notice is 30 days.", "30 days"],
  ["an emoji inside the quote", "Mind the 🌊 at high tide.", "the 🌊 at"],
  ["a joined emoji and an accent apart", "👩‍🔬 cafe\u0301: closed", "closed"],
  ["the quote at the very end", "𝒳 end", "end"],
  ["the whole text", "𝒳", "𝒳"],
]) {
  test(`cuts at the quote: ${name}`, () => {
    const cut = cutAtQuote(text, scalarOffsets(text, quote));
    assert.equal(cut[1], quote);
    assert.equal(cut.join(""), text);
    assert.equal(cut[0], text.slice(0, text.indexOf(quote)));
  });
}

test("offsets that do not hold the quote highlight nothing", () => {
  const text = "🌊 Notice is 30 days.";
  assert.equal(cutAtQuote(text, { quote: "30 days", start: 13, end: 20 }), null);
  assert.equal(cutAtQuote(text, { quote: "30 days", start: 400, end: 407 }), null);
  assert.equal(cutAtQuote(text, { quote: "", start: 3, end: 3 }), null);
});

test("a scalar beyond the text has no index", () => {
  assert.equal(unitIndex("🌊", 1), 2);
  assert.equal(unitIndex("🌊", 2), -1);
});
