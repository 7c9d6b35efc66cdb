"""A model that a test plays: a server with OpenAI's `/chat/completions`."""

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def serving(answer):
    """Serves on a free port and yields the base URL; `answer` makes of the user's message what the model writes."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.answer = answer
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = self.server.answer(asked["messages"][-1]["content"])
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
