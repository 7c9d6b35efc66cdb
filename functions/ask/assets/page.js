// The question box: asks, stops, and shows one answer at a time.
//
// A question is sent only when its asker sends it, and once. A second question ends the first. Nothing is stored in the
// browser.

import { createAnswer } from "./answer.js";
import { ask, AskFailure } from "./ask.js";
import { close as closePreview } from "./preview.js";
import { corpusName, count } from "./words.js";

const MAX_CHARACTERS = 1000;

const byId = (id) => document.getElementById(id);
const form = byId("ask");
const box = byId("question");
const hint = byId("hint");
const usualHint = [...hint.childNodes];

let running = null;
let corpus = null;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit(box.value.trim());
});

box.addEventListener("keydown", (event) => {
  // While an input method composes a word, Enter belongs to it.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (!event.repeat) form.requestSubmit();
});

box.addEventListener("input", () => complain(""));

byId("stop").addEventListener("click", stop);

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.isComposing && !closePreview()) stop();
});

showStatus();

function submit(question) {
  const complaint = complaintAbout(question);
  complain(complaint);
  if (complaint !== "") return;
  if (running?.question === question) return; // A double click, not a second question.
  stop();
  start(question);
}

function complaintAbout(question) {
  if (question === "") return "Type a question first.";
  const length = [...question].length;
  if (length <= MAX_CHARACTERS) return "";
  const [has, may] = [length, MAX_CHARACTERS].map((number) => number.toLocaleString("en"));
  return `The question has ${has} characters; up to ${may} can be asked.`;
}

function complain(complaint) {
  box.setAttribute("aria-invalid", String(complaint !== ""));
  if (complaint === "") hint.replaceChildren(...usualHint);
  else hint.textContent = complaint;
  hint.classList.toggle("complaint", complaint !== "");
  if (complaint !== "") box.focus();
}

async function start(question) {
  const answer = createAnswer(question, corpus);
  const controller = new AbortController();
  const mine = { question, controller, answer };
  running = mine;
  closePreview();
  byId("result").replaceChildren(answer.element);
  byId("stop").hidden = false;
  say("Searching the documentation.");
  try {
    await ask(question, { signal: controller.signal, onEvent: answer.receive });
  } catch (error) {
    if (controller.signal.aborted) return;
    answer.fail(error instanceof AskFailure ? error : new AskFailure("unreadable"));
    if (!(error instanceof AskFailure)) console.error(error);
  }
  finish(mine);
}

function stop() {
  if (running === null) return;
  running.controller.abort();
  running.answer.stop();
  finish(running);
}

function finish(finished) {
  if (running !== finished) return;
  running = null;
  byId("stop").hidden = true;
  say(finished.answer.summary());
}

// The one live region of the page: that the search began, and how it ended.
function say(sentence) {
  byId("spoken").textContent = sentence;
}

async function showStatus() {
  const status = await fetch("api/status")
    .then((response) => (response.ok ? response.json() : null))
    .catch(() => null); // The page works without it; asking says what is wrong.
  if (status === null) return;
  const { mode, quota } = status;
  const notices = [];
  // A service without documentation answers 503, so that a status always has some.
  corpus = { ...status.corpus, label: status.corpus.version };
  showCorpus(corpus, status.providers);
  if (mode === "off") notices.push("The service is switched off for now.");
  if (mode === "read-only") notices.push("New questions are switched off for now.");
  if (quota?.visitor?.remaining === 0) notices.push("You have used today's questions.");
  byId("mode").textContent = notices.join(" ");
  byId("mode").hidden = notices.length === 0;
}

function showCorpus({ title, label, pages, chunks, built_at: builtAt, licence }, providers) {
  byId("corpus-title").textContent = title;
  document.title = `${title} · Sourced`;
  const facts = [corpusName({ title, label })];
  if (pages) facts.push(`${count(pages, "page")} in ${count(chunks, "passage")}`);
  const built = new Date(builtAt);
  if (builtAt && !Number.isNaN(built.getTime())) {
    facts.push(`loaded ${built.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" })}`);
  }
  if (providers?.generator === "extractive") facts.push("answers in the documentation's own sentences");
  byId("corpus-facts").textContent = `${facts.join(" · ")}.`;
  if (licence) byId("licence").textContent = licence;
}
