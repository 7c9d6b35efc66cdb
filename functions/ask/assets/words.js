// Every fixed sentence of the page. No word of a model and no text of an error is shown in its place.

/** What a stage of the pipeline is called while a visitor waits for it. */
export const STAGES = {
  __proto__: null, // Keys come from outside: only what is listed is found.
  waking: "Waking the database",
  open: "Database opened",
  embed: "Question read",
  retrieve: "Documentation searched",
  rerank: "Passages ranked",
  generate: "Answer written",
  verify: "Quotes checked",
};

/** What a stage is called that a newer service has and this page does not know. */
export const OTHER_STAGE = "One more step";

/** Why a sentence was not shown. */
export const REASONS = {
  __proto__: null, // Keys come from outside: only what is listed is found.
  no_citation: "it cited nothing",
  unknown_passage: "it cited a passage that was not found",
  quote_not_found: "its quote is not in the passage",
  quote_too_short: "its quote is too short to prove anything",
  // The rest concerns sentences that a language model wrote.
  unsupported_number: "it has a number that its quotes do not have",
  unsupported_name: "it names something that its quotes do not name",
  contradicts_negation: "it says the opposite of its quote",
  unrelated: "its passage is about something else",
  unfinished: "it was not finished",
  too_long: "it was too long to check",
  unreadable: "its citation could not be read",
};

/** Remarks about an answer. */
export const NOTES = {
  __proto__: null, // Keys come from outside: only what is listed is found.
  not_covered: "The documentation does not cover part of the question.",
  truncated: "The answer reached its length limit and was cut.",
  interrupted: "The answer broke off before its end. What is shown was verified.",
};

/** What the answer had to do without. */
export const DEGRADED = {
  __proto__: null, // Keys come from outside: only what is listed is found.
  generator: "The language model did not answer; these are the documentation's own sentences.",
  vector: "Search by meaning was not available; only words were searched.",
  keyword: "Search by words was not available; only meaning was searched.",
  reranker: "Passages are in the order of the search; they could not be ranked again.",
};

const FAILURES = {
  __proto__: null, // Keys come from outside: only what is listed is found.
  invalid_question: "That question cannot be read. Ask in up to 1,000 characters.",
  invalid_request: "The service did not understand the request. Reload the page and ask again.",
  too_large: "That question is too long. Ask in up to 1,000 characters.",
  visitor_quota: "You have used today's questions.",
  global_quota: "All of today's questions have been used.",
  budget: "Today's budget for answers is used up.",
  read_only: "New questions are switched off for now. The documentation is still there to read.",
  off: "The service is switched off for now.",
  unavailable: "The service cannot answer right now. Try again in a moment.",
  provider: "The language model could not be reached. Try again in a moment.",
  refused: "The language model declined to answer this question.",
  filtered: "The language model's provider filtered this question.",
  deadline: "The answer took too long and was stopped. A narrower question may be quicker.",
  internal: "Something failed on our side.",
  busy: "The service is busy or just starting. Try again in a moment.",
  unreachable: "The service could not be reached. Check the connection, then ask again.",
  cut_off: "The connection ended before the answer did. Sentences that are shown were verified; others may be missing.",
  unreadable: "The service sent something this page cannot read. Reload the page and ask again.",
};

/** A failure in plain words, with what helps to wait for it or to report it. */
export function failureSentences({ code, retryAfterSeconds, resetsAt, requestId }) {
  const sentences = [FAILURES[code] ?? FAILURES.internal];
  if (resetsAt) sentences.push(`Questions can be asked again from ${clock(resetsAt)}.`);
  else if (retryAfterSeconds) sentences.push(`Worth trying again in ${duration(retryAfterSeconds * 1000)}.`);
  if (requestId) sentences.push(`Request ${requestId}.`);
  return sentences;
}

/** A corpus by its title and, unless the title says it, the documentation's own version. */
export function corpusName({ title, version }) {
  return version && !title.includes(version) ? `${title}, version ${version}` : title;
}

/** What the service's status says of its corpus, in a few words each. */
export function corpusFacts(corpus, providers) {
  const facts = [corpusName(corpus)];
  if (corpus.pages) facts.push(`${count(corpus.pages, "page")} in ${count(corpus.chunks, "passage")}`);
  const built = new Date(corpus.built_at);
  if (corpus.built_at && !Number.isNaN(built.getTime())) {
    facts.push(`loaded ${built.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" })}`);
  }
  if (providers?.generator === "extractive") facts.push("answers in the documentation's own sentences");
  return facts;
}

/** What a visitor should know before asking, by the body of the service's status or of the error in its place. */
export function statusNotices({ error, mode, quota }) {
  const notices = [];
  // The service says only that there is no corpus to answer from, not why.
  if (error?.code === "unavailable") {
    notices.push(
      "No documentation has been loaded yet, or it cannot be reached at the moment. If none has been loaded, " +
        "load it with scripts/ingest, then reload this page.",
    );
  }
  if (mode === "off") notices.push("The service is switched off for now.");
  if (mode === "read-only") notices.push("New questions are switched off for now. Suggested ones are still answered.");
  // Nothing is left in the other modes, whatever was asked.
  if (mode === "live" && quota?.visitor?.remaining === 0) {
    notices.push("You have used today's questions. Suggested ones are still answered.");
  }
  return notices;
}

/** `1 quote`, `2 quotes`. */
export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** `8 ms`, `1.4 s`, `3 min`. */
export function duration(milliseconds) {
  if (milliseconds < 1) return "<1 ms";
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 90_000) return `${(milliseconds / 1000).toFixed(1).replace(/\.0$/, "")} s`;
  return `${Math.round(milliseconds / 60_000)} min`;
}

function clock(instant) {
  const when = new Date(instant);
  if (Number.isNaN(when.getTime())) return "tomorrow";
  return when.toLocaleString("en", { weekday: "long", hour: "2-digit", minute: "2-digit", hour12: false });
}
