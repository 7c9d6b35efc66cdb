// Shows one recorded run: its figures, its plots, and below them every question with its answer and what it rests on.
//
// Text becomes text nodes (dom.js). Questions come a page at a time, when they are wanted.

import { element, headingPath, link } from "./dom.js";
import {
  boundsOf,
  chosen,
  day,
  figure,
  groupsOf,
  HEADLINES,
  headlinesOf,
  number,
  outcomeOf,
  plotAddress,
  rowsAddress,
  whatOf,
} from "./figures.js";
import { REASONS } from "./words.js";

/** The view of a run; `read(address)` gives a page of questions. */
export function showRun(run, read) {
  const metrics = run.metrics ?? [];
  return element(
    "section",
    { class: "run" },
    element("h2", {}, run.title),
    element(
      "p",
      { class: "run-facts" },
      element("span", { class: `outcome ${run.outcome === "passed" ? "good" : "bad"}` }, outcomeOf(run)),
      ` on ${day(run.at)}, with ${number(run.questions)} questions.`,
    ),
    listOf(run.notes, "notes"),
    showHeadlines(metrics),
    showOutcomes(run.outcomes),
    ...(run.plots ?? []).map((plot) => showPlot(run.slug, plot)),
    folded("All figures", ...[...groupsOf(metrics)].map(([group, of]) => showGroup(group, of))),
    folded("How it was measured", showSetting(run), listOf(run.ruling, "ruling"), showLeftOut(run.left_out)),
    showQuestions(run, read),
  );
}

function showHeadlines(metrics) {
  const cards = headlinesOf(metrics).map((metric) =>
    element(
      "div",
      { class: "figure" },
      element("dt", {}, HEADLINES[metric.name]),
      element("dd", {}, element("strong", {}, figure(metric.value)), element("small", {}, boundsOf(metric).join(", "))),
    ),
  );
  return cards.length === 0 ? null : element("dl", { class: "figures" }, ...cards);
}

function showOutcomes(outcomes) {
  if (!outcomes) return null;
  const counts = (name, of) => [name, number(of?.answered), number(of?.refused)];
  return element(
    "div",
    {},
    element("h3", {}, "Answered and refused"),
    table(
      ["", "answered", "refused"],
      [counts("Questions with an answer", outcomes.answerable), counts("Questions without", outcomes.unanswerable)],
    ),
  );
}

function showPlot(slug, { name, title, alt }) {
  const image = element("img", { src: plotAddress(slug, name), alt, loading: "lazy" });
  return element("figure", {}, element("figcaption", {}, title), image);
}

function showGroup(group, metrics) {
  const rows = metrics.map((metric) => [
    metric.name,
    figure(metric.value),
    boundsOf({ interval: metric.interval }).join(),
    boundsOf({ n: metric.n, hits: metric.hits }).join(),
    typeof metric.floor === "number" ? figure(metric.floor) : "",
    (metric.history ?? []).map(({ at, value }) => `${figure(value)} (${day(at)})`).join(", "),
  ]);
  return element("div", {}, element("h3", {}, group), table(["", "value", "interval", "of", "floor", "before"], rows));
}

function showSetting(run) {
  const facts = [
    ["Corpus", run.corpus],
    ["Hash of the corpus", run.corpus_hash],
    ["Embedder", run.embedder],
    ["Reranker", run.reranker],
    ["Written by", run.writer],
    ["Model", run.generator],
    ["Judged by", run.judge],
  ];
  return table(null, facts.filter(([, value]) => value));
}

function showLeftOut(leftOut) {
  const items = Object.entries(leftOut ?? {}).map(([id, why]) => `${id}: ${why}`);
  if (items.length === 0) return null;
  return element("div", {}, element("h3", {}, "Left out"), listOf(items, "left-out"));
}

function showQuestions(run, read) {
  const pages = run.rows?.pages ?? 0;
  if (pages === 0) return null;
  const list = element("div", { class: "questions" });
  const state = element("p", { class: "hint", role: "status" });
  const text = element("input", { type: "search", "aria-label": "Words in a question or its answer", placeholder: "Words" });
  const kind = element("select", { "aria-label": "Kind of question" });
  const went = select("How it went", [["", "Right or not"], ["right", "Right"], ["wrong", "Not right"]]);
  const back = element("button", { type: "button", class: "quiet small" }, "Previous page");
  const on = element("button", { type: "button", class: "quiet small" }, "Next page");
  let rows = [];
  let page = 0;

  const show = () => {
    const found = chosen(rows, { text: text.value, kind: kind.value, went: went.value });
    list.replaceChildren(...found.map(showQuestion));
    state.textContent = `Page ${page} of ${pages}, ${found.length} of its ${rows.length} questions shown.`;
  };
  const turn = async (to) => {
    back.disabled = true;
    on.disabled = true;
    state.textContent = "Reading the questions…";
    try {
      ({ rows } = await read(rowsAddress(run.slug, to)));
      page = to;
      const kinds = [...new Set(rows.map((row) => row.type))].map((each) => [each, each]);
      kind.replaceChildren(...options([["", "Any kind"], ...kinds]));
      show();
    } catch (error) {
      console.error(error);
      state.textContent = "These questions cannot be read right now.";
    }
    back.disabled = page <= 1;
    on.disabled = page >= pages;
  };

  text.addEventListener("input", show);
  kind.addEventListener("change", show);
  went.addEventListener("change", show);
  back.addEventListener("click", () => turn(page - 1));
  // Where the first page could not be read, this tries it again.
  on.addEventListener("click", () => turn(page + 1));
  const view = folded("Every question", element("p", { class: "choice" }, text, kind, went), state, list,
    element("p", { class: "choice" }, back, on));
  view.addEventListener("toggle", () => {
    if (view.open && page === 0) turn(1);
  });
  return view;
}

/** A question with how it went, and inside what was shown for it, built when it is opened. */
export function showQuestion(row) {
  const mark = element("span", { class: row.right ? "good" : "bad" }, row.right ? "✓ " : "✗ ");
  const kind = element("span", { class: "kind" }, [row.type, row.style].filter(Boolean).join(", "), row.right ? null : `: ${whatOf(row)}`);
  const view = element("details", {}, element("summary", {}, mark, element("span", { dir: "auto" }, row.question), kind));
  view.addEventListener("toggle", () => {
    if (view.open && view.children.length === 1) view.append(questionParts(row));
  });
  return view;
}

/** What was shown for a question, and what was expected. */
export function questionParts(row) {
  const relevance = typeof row.relevance === "number" ? `relevance ${figure(row.relevance)}` : null;
  return element(
    "div",
    { class: "question" },
    element("p", { class: "hint" }, [row.id, row.outcome, whatOf(row), relevance].filter(Boolean).join(" · ")),
    row.refusal ? element("p", {}, row.refusal) : null,
    part("Answer", (row.answer ?? []).map(showSentence)),
    part("Removed", (row.removed ?? []).map((reason) => element("li", {}, REASONS[reason] ?? reason))),
    part("Expected", (row.gold ?? []).map(showGold)),
    part("Hidden for this question", (row.without ?? []).map((page) => element("li", {}, page))),
    part("Passages", (row.passages ?? []).map(showPassage)),
  );
}

function showSentence({ text, kind, citations, verdict }) {
  const words = kind === "code" ? element("pre", { tabindex: "0" }, element("code", {}, text)) : element("span", { dir: "auto" }, text);
  return element(
    "li",
    {},
    words,
    element("ul", { class: "citations" }, ...(citations ?? []).map(({ passage, quote, url }) =>
      element("li", {}, link(url, passage), " ", element("q", { dir: "auto" }, quote)))),
    verdict ? element("p", { class: "hint" }, verdictOf(verdict)) : null,
  );
}

function verdictOf({ supported, votes }) {
  const said = supported === null || supported === undefined ? "no verdict" : supported ? "supported" : "not supported";
  return `Judge: ${said}${votes?.length > 0 ? ` (${votes.join(", ")})` : ""}`;
}

function showGold({ page, anchor, quote }) {
  return element("li", {}, anchor ? `${page}#${anchor} ` : `${page} `, element("q", { dir: "auto" }, quote));
}

function showPassage({ id, title, heading, url, text, score }) {
  const scored = typeof score === "number" ? ` · ${figure(score)}` : "";
  const summary = element("summary", {}, `${id} ${headingPath([title, ...(heading ?? [])])}${scored}`);
  const body = element("p", { class: "passage-words", dir: "auto" }, text);
  return element("li", {}, element("details", {}, summary, body, element("p", {}, link(url, "Open in the documentation"))));
}

function part(title, items) {
  if (items.length === 0) return null;
  return element("div", {}, element("h4", {}, title), element("ul", {}, ...items));
}

function folded(title, ...children) {
  return element("details", { class: "folded" }, element("summary", {}, title), ...children);
}

function listOf(lines, name) {
  if (!lines || lines.length === 0) return null;
  return element("ul", { class: name }, ...lines.map((line) => element("li", {}, line)));
}

function table(heads, rows) {
  const head = heads && element("thead", {}, element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text))));
  const body = rows.map(([name, ...cells]) =>
    element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((cell) => element("td", {}, cell))));
  return element("table", {}, head, element("tbody", {}, ...body));
}

function select(label, choices) {
  return element("select", { "aria-label": label }, ...options(choices));
}

function options(choices) {
  return choices.map(([value, text]) => element("option", { value }, text));
}
