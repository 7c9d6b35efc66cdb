// Sends one question and hands on the events of its answer.
//
// Sends it exactly once: no failure is tried again here. The last event has to be `done` or `error`; a stream that ends
// without either is a failure, whatever it brought before.

import { readEvents } from "./sse.js";

/** A question that was not answered; `code` is one of the service's or of words.js. */
export class AskFailure extends Error {
  constructor(code, { retryAfterSeconds = null, resetsAt = null, requestId = null } = {}) {
    super(code);
    Object.assign(this, { code, retryAfterSeconds, resetsAt, requestId });
  }
}

/**
 * Asks, and calls `onEvent(name, data)` for each event up to and including `done`.
 * Throws `AskFailure`; after an abort of `signal` the promise rejects too, and nothing more is handed on.
 */
export async function ask(question, { signal, onEvent, fetch = globalThis.fetch }) {
  const response = await send(question, signal, fetch);
  const events = readEvents(response.body);
  try {
    for (;;) {
      const event = await nextOf(events, signal);
      signal?.throwIfAborted();
      const data = parse(event.data);
      if (event.name === "error") throw failureFrom(data);
      onEvent(event.name, data);
      if (event.name === "done") return;
    }
  } finally {
    await events.return();
  }
}

async function nextOf(events, signal) {
  let next;
  try {
    next = await events.next();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new AskFailure("cut_off");
  }
  if (next.done) throw new AskFailure("cut_off");
  return next.value;
}

async function send(question, signal, fetch) {
  let response;
  try {
    response = await fetch("api/ask", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ question }),
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new AskFailure("unreachable");
  }
  const type = response.headers.get("content-type") ?? "";
  if (response.ok && type.startsWith("text/event-stream") && response.body) return response;
  throw await failureOf(response, type);
}

async function failureOf(response, type) {
  const retryAfterSeconds = Number.parseInt(response.headers.get("retry-after") ?? "", 10) || null;
  if (!response.ok && type.startsWith("application/json")) {
    const body = await response.json().catch(() => null);
    if (body?.error?.code) return failureFrom({ retry_after_s: retryAfterSeconds, ...body.error });
  }
  // What stands before the service answers in its own words, not in ours, when it has no room.
  const busy = [429, 502, 503, 504].includes(response.status);
  return new AskFailure(busy ? "busy" : response.ok ? "unreadable" : "internal", { retryAfterSeconds });
}

function failureFrom(error) {
  return new AskFailure(error.code, {
    retryAfterSeconds: error.retry_after_s ?? null,
    resetsAt: error.resets_at ?? null,
    requestId: error.request_id ?? null,
  });
}

function parse(data) {
  try {
    return JSON.parse(data);
  } catch {
    throw new AskFailure("unreadable");
  }
}
