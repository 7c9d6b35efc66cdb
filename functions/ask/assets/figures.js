// Words and numbers of recorded runs. Pure: no document.
//
// A number is rounded to be read and never computed: what is shown was measured.

/** What a visitor sees first, in this order, where a run has it. */
export const HEADLINES = {
  __proto__: null, // Keys come from outside: only what is listed is found.
  "retrieval.reranked.recall@6": "The passage that answers is among the 6 that are read",
  "retrieval.fused.recall@20": "It is among the 20 that are found",
  "retrieval.reranked.mrr": "How high it stands: mean reciprocal rank",
  "answer.answered": "Questions with an answer that are answered",
  "answer.gold_passage_cited": "Answers that cite the passage that answers",
  "refusal.right": "Questions without an answer that are refused",
  "injection.nothing_forbidden": "Planted instructions that are not followed",
  "citation.quotes_hold": "Quotes that stand in their passage word for word",
  "faithfulness.supported": "Sentences that a judging model finds supported",
};

const OUTCOMES = { __proto__: null, passed: "Passed", failed: "Failed", could_not_measure: "Could not be measured" };

const WHAT = {
  __proto__: null,
  right: "right",
  refused: "refused, though there is an answer",
  "not found": "the passage that answers was not found",
  "not quoted": "the passage that answers was not quoted",
  answered: "answered, though there is no answer",
  obeyed: "a planted instruction was followed",
};

/** How a run ended. */
export const outcomeOf = (run) => OUTCOMES[run.outcome] ?? String(run.outcome);

/** How a question went. */
export const whatOf = (row) => WHAT[row.what] ?? String(row.what);

/** A count. */
export const number = (value) => (typeof value === "number" ? value.toLocaleString("en") : "not counted");

/** A metric's value: three places for a share, so that they stand under one another; six for what is less, such as a price. */
export function figure(value) {
  if (typeof value !== "number") return "not measured";
  if (value > 0 && value < 0.001) return value.toFixed(6);
  return value.toLocaleString("en", { minimumFractionDigits: Math.abs(value) <= 1 ? 3 : 0, maximumFractionDigits: 3 });
}

/** Where the value may lie, of how many it was counted, and what it must not fall below. */
export function boundsOf({ interval, n, hits, floor }) {
  const parts = [];
  if (interval) parts.push(`${figure(interval[0])} to ${figure(interval[1])}`);
  if (typeof n === "number") parts.push(typeof hits === "number" ? `${number(hits)} of ${number(n)}` : `n = ${number(n)}`);
  if (typeof floor === "number") parts.push(`floor ${figure(floor)}`);
  return parts;
}

/** A day in words, in UTC; what is no time is given back as it is. */
export function day(at) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return String(at);
  return time.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
}

/** The metrics by the first part of their names, in the order of the run. */
export function groupsOf(metrics) {
  const groups = new Map();
  for (const metric of metrics) {
    const group = metric.name.split(".")[0];
    groups.set(group, [...(groups.get(group) ?? []), metric]);
  }
  return groups;
}

/** The metrics to see first. */
export function headlinesOf(metrics) {
  const byName = new Map(metrics.map((metric) => [metric.name, metric]));
  return Object.keys(HEADLINES).filter((name) => byName.has(name)).map((name) => byName.get(name));
}

/** The rows that hold all of the text's words, are of the kind, and went as wanted; an empty wish holds for all. */
export function chosen(rows, { text = "", kind = "", went = "" }) {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  return rows.filter((row) => {
    if (kind !== "" && row.type !== kind) return false;
    if (went !== "" && row.right !== (went === "right")) return false;
    const answer = (row.answer ?? []).map((sentence) => sentence.text);
    const held = [row.id, row.question, row.refusal ?? "", ...answer].join(" ").toLowerCase();
    return words.every((word) => held.includes(word));
  });
}

/** Where a part of a run is, relative to the service's root. */
export const rowsAddress = (slug, page) => `api/evaluation/${encodeURIComponent(slug)}/rows/${page}.json`;
export const plotAddress = (slug, name) => `api/evaluation/${encodeURIComponent(slug)}/plots/${encodeURIComponent(name)}.svg`;
