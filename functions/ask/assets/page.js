// The question box: asks, stops, and shows one answer at a time.
//
// A question is sent only when its asker sends it, and once. A second question ends the first. Nothing is stored in the
// browser.

import { createAnswer } from "./answer.js";
import { ask, AskFailure } from "./ask.js";
import { element } from "./dom.js";
import { close as closePreview } from "./preview.js";
import { corpusFacts, statusNotices } from "./words.js";

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
showSuggestions();

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
  byId("suggestions").hidden = true;
  byId("result").replaceChildren(answer.element);
  byId("stop").hidden = false;
  say("Searching the documentation.");
  try {
    await ask(question, { signal: controller.signal, onEvent: answer.receive });
  } catch (error) {
    if (controller.signal.aborted) return;
    answer.fail(error instanceof AskFailure ? error : new AskFailure("unreadable"));
    // At a limit, or while only what is prepared is served, these still are answered.
    byId("suggestions").hidden = !byId("suggestions-list").hasChildNodes();
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
  // The page works without it; asking says what is wrong.
  const response = await fetch("api/status").catch(() => null);
  const status = await response?.json().catch(() => null);
  if (!status) return;
  if (response.ok) {
    corpus = status.corpus;
    showCorpus(corpus, status.providers);
  }
  const notices = statusNotices(status);
  byId("mode").textContent = notices.join(" ");
  byId("mode").hidden = notices.length === 0;
}

// Their answers are prepared: they are there at once, and count for nothing.
async function showSuggestions() {
  const response = await fetch("api/suggestions").catch(() => null);
  const suggestions = response?.ok ? await response.json().catch(() => []) : [];
  const items = suggestions.map(({ question }) => {
    const button = element("button", { type: "button", class: "quiet small" }, question);
    button.addEventListener("click", () => {
      box.value = question;
      box.focus();
      form.requestSubmit();
    });
    return element("li", {}, button);
  });
  byId("suggestions-list").replaceChildren(...items);
  // Whoever asked already is reading.
  byId("suggestions").hidden = items.length === 0 || byId("result").hasChildNodes();
}

function showCorpus(shown, providers) {
  byId("corpus-title").textContent = shown.title;
  document.title = `${shown.title} · Sourced`;
  byId("corpus-facts").textContent = `${corpusFacts(shown, providers).join(" · ")}.`;
  if (shown.licence) byId("licence").textContent = shown.licence;
}
