// Shows one answer as its events come in.
//
// Only adds: text once shown is never taken back. Text becomes text nodes (dom.js); which address may be a link is
// decided in links.js. Sending and stopping are page.js's.

import { element, headingPath, link } from "./dom.js";
import { cutAtQuote } from "./offsets.js";
import { attachPreview } from "./preview.js";
import { corpusName, count, DEGRADED, duration, failureSentences, NOTES, OTHER_STAGE, REASONS, STAGES } from "./words.js";

const WORD_JOINER = "\u2060"; // No line may end between a sentence and its mark.

/**
 * Builds the view of an answer to `question` from `corpus` (as in the service's status, or `null` while unknown).
 *
 * Returns its element and what may happen to it: `receive(name, data)` for the stream's events, `fail(failure)`,
 * `stop()`, and `summary()`, the sentence read aloud when it is over.
 */
export function createAnswer(question, corpus) {
  const view = layOut(question);
  const timer = startTimer(view);
  const passages = new Map();
  const numbers = new Map();
  const removed = [];
  let shown = 0;
  let paragraph = null;
  let summary = "";

  const receivers = {
    progress({ stage, ms }) {
      timer.passed(STAGES[stage] ?? OTHER_STAGE, ms);
    },

    passages({ passages: list }) {
      for (const passage of list) {
        const shownPassage = createPassage(passage);
        passages.set(passage.id, shownPassage);
        view.passageList.append(shownPassage.item);
      }
      view.evidence.hidden = list.length === 0;
    },

    sentence(sentence) {
      shown += 1;
      view.answer.hidden = false;
      const marks = sentence.citations.map((citation) => markFor(citation));
      const cited = sentence.citations.map((citation) => citation.passage);
      if (sentence.kind === "code") {
        paragraph = null;
        const code = element("pre", { tabindex: "0" }, element("code", {}, sentence.text));
        view.text.append(element("div", { class: "sentence code" }, code, element("p", { class: "marks" }, ...marks)));
        return;
      }
      // Sentences that rest on other passages than the ones before them start a paragraph of their own.
      if (paragraph === null || !cited.some((passage) => paragraph.cited.has(passage))) {
        paragraph = { cited: new Set(), node: element("p") };
        view.text.append(paragraph.node);
      }
      for (const passage of cited) paragraph.cited.add(passage);
      if (paragraph.node.hasChildNodes()) paragraph.node.append(" ");
      const text = element("span", { class: "words", dir: "auto" }, sentence.text);
      paragraph.node.append(element("span", { class: "sentence" }, text, ...marks.flatMap((mark) => [WORD_JOINER, mark])));
    },

    removed({ reason }) {
      removed.push(reason);
      showRemoved(view.removed, removed);
    },

    note({ kind }) {
      if (NOTES[kind]) view.notes.append(element("p", {}, NOTES[kind]));
    },

    done(done) {
      timer.end();
      const refused = done.outcome === "abstained" || done.outcome === "unsupported";
      summary = refused ? showRefusal(view, done) : showVerdict(view, done);
      for (const part of done.degraded ?? []) {
        if (DEGRADED[part]) view.notes.append(element("p", {}, DEGRADED[part]));
      }
      view.facts.append(...factsOf(done, corpus).map((fact) => element("li", {}, fact)));
      if (refused) view.evidenceTitle.textContent = "Passages that were read";
    },
  };

  function markFor(citation) {
    const key = JSON.stringify([citation.passage, citation.start, citation.end]);
    const known = numbers.get(key);
    const number = known ?? numbers.size + 1;
    numbers.set(key, number);
    const passage = passages.get(citation.passage);
    if (known === undefined) passage?.quoted(number);
    const where = passage ? headingPath(passage.heading) : citation.passage;
    // A link, not a button: inline text stays on the line of the word before it.
    const target = `#passage-${citation.passage}`;
    const mark = element("a", { class: "mark", href: target, "aria-label": `Source ${number}: ${where}` }, String(number));
    mark.addEventListener("click", (event) => {
      event.preventDefault();
      passage?.open(citation, number, mark);
    });
    attachPreview(mark, { quote: citation.quote, where });
    return mark;
  }

  return {
    element: view.root,
    receive(name, data) {
      if (Object.hasOwn(receivers, name)) receivers[name](data);
    },
    fail(failure) {
      timer.end();
      const sentences = failureSentences(failure);
      summary = sentences[0];
      view.failure.append(...sentences.map((sentence) => element("p", {}, sentence)));
      view.failure.hidden = false;
    },
    stop() {
      timer.end();
      summary = shown > 0 ? "Stopped. What is shown was verified." : "Stopped.";
      view.notes.append(element("p", {}, summary));
    },
    summary: () => summary,
  };
}

function layOut(question) {
  const view = {
    timeline: element("ol", { class: "timeline", "aria-label": "Steps" }),
    text: element("div", { class: "text" }),
    refusal: element("div", { class: "refusal", hidden: "" }),
    failure: element("div", { class: "failure", hidden: "" }),
    removed: element("div", { class: "removed" }),
    notes: element("div", { class: "notes" }),
    verdict: element("p", { class: "verdict", hidden: "" }),
    facts: element("ul", { class: "facts" }),
    evidenceTitle: element("h2", {}, "Passages"),
    passageList: element("ol", { class: "passages" }),
  };
  view.answer = element("div", { class: "answer", hidden: "" }, element("h2", {}, "Answer"), view.text);
  view.evidence = element("section", { class: "evidence", hidden: "" }, view.evidenceTitle, view.passageList);
  view.root = element(
    "article",
    { class: "result", "aria-busy": "true", "aria-label": "Answer" },
    element("p", { class: "asked", dir: "auto" }, question),
    view.timeline,
    element(
      "div",
      { class: "columns" },
      element(
        "section",
        { class: "reply" },
        view.answer,
        view.refusal,
        view.failure,
        view.verdict,
        view.removed,
        view.notes,
        view.facts,
      ),
      view.evidence,
    ),
  );
  return view;
}

// The last step of the timeline counts up until the answer is over.
function startTimer({ root, timeline }) {
  const began = performance.now();
  const time = element("span", { class: "time" });
  const running = element("li", { class: "running" }, "Working", time);
  const tick = () => {
    time.textContent = duration(Math.max(1, performance.now() - began));
  };
  tick();
  const interval = setInterval(tick, 100);
  timeline.append(running);
  return {
    passed(label, milliseconds) {
      if (milliseconds === undefined || milliseconds === null) {
        running.firstChild.textContent = label;
        return;
      }
      running.firstChild.textContent = "Working";
      running.before(element("li", {}, label, element("span", { class: "time" }, duration(milliseconds))));
    },
    end() {
      clearInterval(interval);
      running.remove();
      root.setAttribute("aria-busy", "false");
    },
  };
}

function createPassage(passage) {
  const path = [passage.title, ...passage.heading];
  const body = element("div", { class: "passage-text", dir: "auto" }, passage.text);
  const tools = element("p", { class: "tools" }, link(passage.url, "Open in the documentation"));
  const badge = element("span", { class: "badge" });
  const details = element(
    "details",
    {},
    element(
      "summary",
      {},
      element("span", { class: "passage-title" }, passage.title),
      badge,
      element("span", { class: "passage-heading" }, headingPath(path).slice(passage.title.length + 3)),
    ),
    body,
    metadataOf(passage.metadata ?? {}),
    tools,
  );
  const quotes = [];
  return {
    heading: path,
    item: element("li", { id: `passage-${passage.id}` }, details),
    quoted(number) {
      quotes.push(number);
      badge.textContent = quotes.join(" ");
      badge.setAttribute("aria-label", `quoted as ${quotes.join(", ")}`);
      badge.setAttribute("role", "img");
    },
    open(citation, number, mark) {
      details.open = true;
      const cut = cutAtQuote(passage.text, citation);
      const highlight = element("mark", { tabindex: "-1" }, citation.quote);
      if (cut) body.replaceChildren(cut[0], highlight, cut[2]);
      const back = element("button", { type: "button", class: "quiet small" }, "Back to the sentence");
      back.addEventListener("click", () => mark.focus());
      tools.replaceChildren(link(citation.url, `Open the source at quote ${number}`), back);
      const target = cut ? highlight : details;
      target.scrollIntoView({ block: "center", behavior: calm() ? "auto" : "smooth" });
      highlight.focus({ preventScroll: true });
    },
  };
}

function metadataOf(metadata) {
  const facts = Object.entries(metadata).filter(([key]) => key !== "title");
  if (facts.length === 0) return null;
  return element("p", { class: "metadata" }, facts.map(([key, value]) => `${key}: ${value}`).join(" · "));
}

function showVerdict({ verdict }, done) {
  const quotes = count(done.citations.verified, "quote");
  const sentence = `${count(done.sentences, "sentence")}, ${quotes} checked word for word against the documentation.`;
  verdict.textContent = sentence;
  verdict.hidden = false;
  return `Answer complete. ${sentence}`;
}

function showRefusal({ refusal }, done) {
  const parts = [element("p", { class: "refusal-sentence" }, done.answer)];
  if (done.outcome === "unsupported") {
    parts.push(element("p", {}, "Sentences were written, but their quotes did not hold, so none of them is shown."));
  }
  if (done.nearest?.length > 0) {
    const headings = done.nearest.map(({ heading, url }) => element("li", {}, link(url, headingPath(heading))));
    parts.push(element("h2", {}, "Nearest in the documentation"), element("ul", {}, ...headings));
  }
  parts.push(
    element("h2", {}, "What may help"),
    element(
      "ul",
      {},
      element("li", {}, "Use the documentation's own names: a setting, a command, a form, an error code."),
      element("li", {}, "Check the spelling of names. A name that occurs nowhere is not guessed at."),
      element("li", {}, "Ask one thing at a time, and say what you want to do."),
    ),
  );
  refusal.append(...parts);
  refusal.hidden = false;
  return done.answer;
}

function showRemoved(place, reasons) {
  const tally = new Map();
  for (const reason of reasons) tally.set(reason, (tally.get(reason) ?? 0) + 1);
  const items = [...tally].map(([reason, times]) => {
    const why = REASONS[reason] ?? "it did not hold";
    return element("li", {}, times > 1 ? `${why} (${times} times)` : why);
  });
  place.replaceChildren(
    element(
      "details",
      {},
      element("summary", {}, `${count(reasons.length, "sentence")} left out because a check failed`),
      element("ul", {}, ...items),
    ),
  );
}

function factsOf(done, corpus) {
  const facts = [];
  if (corpus) facts.push(corpusName(corpus));
  const total = done.timings_ms?.total;
  if (typeof total === "number") facts.push(`Answered in ${duration(total)}`);
  if (done.corpus_version !== null && done.corpus_version !== undefined) {
    facts.push(`Build ${done.corpus_version}`);
  }
  const { limit, remaining } = done.quota?.visitor ?? {};
  if (typeof limit === "number" && typeof remaining === "number") {
    facts.push(`${remaining} of ${count(limit, "question")} left today`);
  }
  if (done.cost_usd > 0) facts.push(`Cost $${done.cost_usd.toFixed(4)}`);
  return facts;
}

function calm() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}
