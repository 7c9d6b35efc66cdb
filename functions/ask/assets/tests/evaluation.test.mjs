import assert from "node:assert/strict";
import { test } from "node:test";

import { boundsOf, chosen, day, figure, groupsOf, headlinesOf, plotAddress, rowsAddress, whatOf } from "../figures.js";

// As much of a document as the page uses. It has no innerHTML, so that whoever sets one is found out.
class Node {
  constructor(name) {
    this.name = name;
    this.attributes = {};
    this.nodes = [];
    this.listeners = {};
    this.value = "";
    this.open = false;
    this.disabled = false;
    Object.preventExtensions(this);
  }
  setAttribute(name, value) {
    this.attributes[name] = String(value);
  }
  append(...nodes) {
    this.nodes.push(...nodes);
  }
  replaceChildren(...nodes) {
    this.nodes = nodes;
  }
  addEventListener(name, listener) {
    this.listeners[name] = listener;
  }
  get children() {
    return this.nodes.filter((node) => node instanceof Node);
  }
  get textContent() {
    return this.nodes.map((node) => (node instanceof Node ? node.textContent : String(node))).join("");
  }
  set textContent(text) {
    this.nodes = [text];
  }
  all(name) {
    const within = this.children.flatMap((node) => node.all(name));
    return this.name === name ? [this, ...within] : within;
  }
}

globalThis.document = { baseURI: "https://docs.example/evaluation", createElement: (name) => new Node(name) };
const { questionParts, showRun } = await import("../run.js");

const run = {
  slug: "pg-17",
  title: "PostgreSQL 17",
  at: "2026-12-05T21:46:06Z",
  corpus: "postgresql-17",
  corpus_hash: "abc",
  writer: "rules 3",
  generator: "",
  embedder: "all-MiniLM-L6-v2",
  reranker: "local",
  judge: null,
  questions: 152,
  outcome: "passed",
  ruling: ["all floors hold"],
  notes: ["Ten answerable questions are refused."],
  metrics: [
    {
      name: "retrieval.reranked.recall@6",
      value: 0.951,
      n: 102,
      hits: 97,
      interval: [0.89, 0.98],
      floor: 0.95,
      history: [{ at: "2026-12-01T00:00:00Z", value: 0.941 }],
    },
    { name: "answer.words", value: 41.5, n: 92, hits: null, interval: null, floor: null, history: [] },
  ],
  outcomes: { answerable: { answered: 92, refused: 10 }, unanswerable: { answered: 4, refused: 26 } },
  plots: [{ name: "recall", title: "Recall", alt: "Recall by depth" }],
  rows: { pages: 2, per_page: 25 },
  left_out: { "inj-40": "not taken: too long" },
};

const row = {
  id: "a-1",
  type: "answerable",
  style: "plain",
  question: "What is <b>max_wal_size</b>?",
  right: false,
  what: "not quoted",
  outcome: "answered",
  relevance: 0.98,
  refusal: null,
  answer: [
    {
      text: "The default is 1 GB.",
      kind: "prose",
      citations: [{ passage: "P1", quote: "1 GB", url: "https://docs.example/wal.html#A" }],
      verdict: { supported: true, votes: ["supported", "unsupported", "supported"] },
    },
  ],
  removed: ["quote_not_found"],
  passages: [
    { id: "P1", title: "WAL", heading: ["WAL", "Checkpoints"], url: "javascript:alert(1)", text: "…1 GB…", score: 0.7 },
  ],
  gold: [{ page: "wal.html", anchor: "A", quote: "The default is 1 GB" }],
  without: ["other.html"],
};

test("a figure is shown as it was measured", () => {
  assert.deepEqual([0.951, 1, 0, 41.5, 1200, null].map(figure), ["0.951", "1.000", "0.000", "41.5", "1,200", "not measured"]);
  assert.deepEqual(boundsOf(run.metrics[0]), ["0.890 to 0.980", "97 of 102", "floor 0.950"]);
  assert.deepEqual(boundsOf(run.metrics[1]), ["n = 92"]);
  assert.equal(day(run.at), "5 December 2026");
  assert.equal(day("soon"), "soon");
});

test("metrics stand in groups, and the first are known by name", () => {
  assert.deepEqual([...groupsOf(run.metrics).keys()], ["retrieval", "answer"]);
  assert.deepEqual(headlinesOf(run.metrics).map((metric) => metric.name), ["retrieval.reranked.recall@6"]);
});

test("what is not known is shown as it is", () => {
  assert.equal(whatOf({ what: "constructor" }), "constructor");
});

test("addresses stay below the service's root", () => {
  assert.equal(rowsAddress("pg-17", 2), "api/evaluation/pg-17/rows/2.json");
  assert.equal(plotAddress("../x", "a/b"), "api/evaluation/..%2Fx/plots/a%2Fb.svg");
});

test("questions are chosen by words, kind and how they went", () => {
  const other = { id: "u-1", type: "unanswerable", question: "Who?", right: true, refusal: "Not found.", answer: [] };
  const ids = (wish) => chosen([row, other], wish).map(({ id }) => id);
  assert.deepEqual(ids({}), ["a-1", "u-1"]);
  assert.deepEqual(ids({ text: " gb DEFAULT " }), ["a-1"]);
  assert.deepEqual(ids({ text: "not found" }), ["u-1"]);
  assert.deepEqual(ids({ kind: "unanswerable" }), ["u-1"]);
  assert.deepEqual(ids({ went: "wrong" }), ["a-1"]);
  assert.deepEqual(ids({ went: "right", kind: "answerable" }), []);
});

test("a run is shown with its figures, its plot and what was left out", () => {
  const view = showRun(run, () => assert.fail("nothing is read before it is wanted"));
  for (const words of ["PostgreSQL 17", "Passed", "5 December 2026", "0.951", "97 of 102", "floor 0.950", "41.5",
    "0.941 (1 December 2026)", "Ten answerable", "all floors hold", "inj-40: not taken: too long"]) {
    assert.ok(view.textContent.includes(words), words);
  }
  const [image] = view.all("img");
  assert.deepEqual([image.attributes.src, image.attributes.alt], ["api/evaluation/pg-17/plots/recall.svg", "Recall by depth"]);
  assert.ok(!view.textContent.includes("Judged by"));
});

test("a run that has only a name is shown too", () => {
  const view = showRun({ slug: "x", title: "X", at: "", outcome: "failed", questions: 0 }, () => {});
  assert.ok(view.textContent.includes("Failed"));
});

test("questions are read when they are wanted, a page at a time", async () => {
  const read = [];
  const view = showRun(run, async (address) => {
    read.push(address);
    if (read.length === 2) throw new Error("away");
    return { rows: [row] };
  });
  const questions = view.all("details").find((node) => node.children[0].textContent === "Every question");
  const [back, on] = questions.all("button");
  const settled = () => new Promise((resolve) => setTimeout(resolve));
  questions.open = true;
  questions.listeners.toggle();
  await settled();
  assert.match(questions.textContent, /Page 1 of 2, 1 of its 1 questions/);
  assert.deepEqual([back.disabled, on.disabled], [true, false]);
  const { error } = console;
  console.error = () => {};
  on.listeners.click();
  await settled();
  console.error = error;
  assert.match(questions.textContent, /cannot be read/);
  on.listeners.click();
  await settled();
  assert.match(questions.textContent, /Page 2 of 2/);
  assert.deepEqual([back.disabled, on.disabled], [false, true]);
  assert.deepEqual(read, [1, 2, 2].map((page) => `api/evaluation/pg-17/rows/${page}.json`));
});

test("a question shows its answer, what it rests on and what was expected", () => {
  const view = questionParts(row);
  for (const words of ["The default is 1 GB.", "P1", "1 GB", "Judge: supported (supported, unsupported, supported)",
    "its quote is not in the passage", "wal.html#A", "other.html", "WAL › Checkpoints · 0.700", "relevance 0.980",
    "the passage that answers was not quoted"]) {
    assert.ok(view.textContent.includes(words), words);
  }
  const links = view.all("a");
  assert.deepEqual(links.map((node) => node.attributes.href), ["https://docs.example/wal.html#A"]);
  assert.ok(links.every((node) => node.attributes.rel === "noopener"));
});
