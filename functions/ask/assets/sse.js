// Reads a server-sent event stream from a fetch body, however the network cut it.
//
// Never reconnects and never sends anything: a question costs the asker, so it is sent once. What the events mean is
// known by ask.js.

/** Turns pieces of text into events; a piece may end anywhere, also between `\r` and `\n`. */
export class SseParser {
  #rest = "";
  #afterReturn = false;
  #name = "";
  #data = [];

  /**
   * Takes the next piece and returns the events it completed, as `{name, data}`.
   * An event that the stream's end leaves incomplete is never returned.
   */
  push(piece) {
    let text = piece;
    if (text === "") return [];
    if (this.#afterReturn && text[0] === "\n") text = text.slice(1);
    this.#afterReturn = text === "" ? false : text.endsWith("\r");

    const events = [];
    let from = 0;
    for (const lineEnd of text.matchAll(/\r\n|\r|\n/g)) {
      const event = this.#takeLine(this.#rest + text.slice(from, lineEnd.index));
      if (event) events.push(event);
      this.#rest = "";
      from = lineEnd.index + lineEnd[0].length;
    }
    this.#rest += text.slice(from);
    return events;
  }

  #takeLine(line) {
    if (line === "") return this.#dispatch();
    if (line.startsWith(":")) return null; // A comment, sent to keep the connection open.
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "event") this.#name = value;
    if (field === "data") this.#data.push(value);
    return null;
  }

  #dispatch() {
    const event = { name: this.#name || "message", data: this.#data.join("\n") };
    const complete = this.#data.length > 0;
    this.#name = "";
    this.#data = [];
    return complete ? event : null;
  }
}

/** The events of a byte stream, as they come. Leaving the loop early closes the stream. */
export async function* readEvents(body) {
  const decoder = new TextDecoder();
  const parser = new SseParser();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      yield* parser.push(done ? decoder.decode() : decoder.decode(value, { stream: true }));
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {}); // Already closed or aborted: nothing is left to close.
  }
}
