// Cuts a passage at a quote. The service counts Unicode scalars, JavaScript strings count UTF-16 units: an emoji before
// the quote would shift it by one.

/** The UTF-16 index of the given scalar, or -1 when the text has fewer scalars. */
export function unitIndex(text, scalar) {
  let units = 0;
  for (let seen = 0; seen < scalar; seen += 1) {
    if (units >= text.length) return -1;
    units += text.codePointAt(units) > 0xffff ? 2 : 1;
  }
  return units;
}

/**
 * The text before the quote, the quote, and the text after it. `null` when the offsets do not hold the quote's words: then
 * nothing is highlighted rather than the wrong words.
 */
export function cutAtQuote(text, { quote, start, end }) {
  const from = unitIndex(text, start);
  const to = unitIndex(text, end);
  if (from < 0 || to <= from || text.slice(from, to) !== quote) return null;
  return [text.slice(0, from), quote, text.slice(to)];
}
