"""A model that lies: a server with OpenAI's `/chat/completions` that answers every question with sentences of the
passages, and among them one of each kind of lie that a verifier must see.

Every true sentence stands in its passage word for word, so that whatever is shown and does not is a lie that got
through.
"""

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "liar"

PASSAGE = re.compile(r"^<<(\S+) (P\d+)>>\n[^\n]*\n(.*?)\n<<\1 end>>$", re.DOTALL | re.MULTILINE)
# Whole sentences in plain words, which no reader cuts or dresses otherwise than the passage does.
SENTENCE = re.compile(r"(?:^|(?<=[.] ))[A-Z][A-Za-z0-9 ,'_-]{40,200}[.](?= [A-Z]|$)", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.-])[1-9]\d*(?![\w.-])")
ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|etc|vs)\.")


def answer(prompt):
    """What the model writes to this prompt."""
    passages = {label: text for _, label, text in PASSAGE.findall(prompt)}
    said = {label: sentences(text) for label, text in passages.items()}
    written = []
    for label, found in said.items():
        if found and len(written) < 2:
            written.append(cited(found[0], label, quote(found[0])))
    for lie in (misattributed, misquoted, renumbered, uncited, marked_code):
        told = lie(said, passages)
        if told is not None:
            written.insert(len(written) // 2, told)
    return "\n\n".join(written) or "I know it, and say so without any passage."


def sentences(text):
    """The sentences of a passage that are told as they stand."""
    return [found for found in SENTENCE.findall(text) if not ABBREVIATED.search(found)]


def cited(sentence, label, words):
    return f'{sentence[:-1]} [{label}: "{words}"].'


def quote(sentence):
    return " ".join(sentence[:-1].split()[:8])


def misattributed(said, passages):
    """A passage's sentence, cited to another that does not hold it."""
    for label, found in said.items():
        for sentence in found:
            for other, text in passages.items():
                if other != label and quote(sentence) not in text:
                    return cited(sentence, other, quote(sentence))
    return None


def misquoted(said, _):
    """A made-up sentence under a made-up quote."""
    label = next(iter(said), "P1")
    return cited(
        "The elephants of the vacuum forget every snapshot on Sunday.", label, "elephants forget every snapshot"
    )


def renumbered(said, _):
    """A sentence with one of its numbers altered, under a quote that stands in the passage."""
    for label, found in said.items():
        for sentence in found:
            number = NUMBER.search(sentence)
            words = sentence[: number.start()].split() if number else []
            if len(words) >= 4:
                altered = NUMBER.sub(str(int(number.group()) + 7), sentence, count=1)
                return cited(altered, label, " ".join(words))
    return None


def uncited(said, _):
    """A paragraph that cites nothing."""
    return "Nobody has ever needed more than one index for this, whatever they were told."


def marked_code(said, _):
    """A listing that names what no passage names, with its citation inside."""
    label, found = next(((label, found) for label, found in said.items() if found), ("P1", ["It is so."]))
    return f'```sql\nSELECT pg_forget_everything(1); -- [{label}: "{quote(found[0])}"]\n```'


@contextmanager
def serving():
    """Serves on a free port and yields the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Liar)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Liar(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = answer(asked["messages"][-1]["content"])
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        # A word at a time, as models write.
        for piece in re.findall(r"\S+\s*", text):
            self.event({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]})
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.event({"choices": [], "usage": {"prompt_tokens": len(text), "completion_tokens": len(text)}})
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, data):
        self.wfile.write(f"data: {json.dumps(data)}\n\n".encode())

    def log_message(self, *_):
        """Says nothing: what it was asked is of no interest."""
