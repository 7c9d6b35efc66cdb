"""What scripts/ask does on its own: which service it takes, what it keeps off the terminal, how it says a mistake."""

import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from unittest import mock

from setup.checkout import ROOT
from setup.processes import free_port

PROGRAM = ROOT / "scripts" / "ask"


def loaded():
    """The program as a module; it has no suffix that an import would find."""
    loader = importlib.machinery.SourceFileLoader("ask", str(PROGRAM))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("ask", loader))
    loader.exec_module(module)
    return module


ask = loaded()


class Service(unittest.TestCase):
    def url(self, dot_env="", **env):
        path = Path(self.enterContext(tempfile.TemporaryDirectory())) / "settings"
        path.write_text(dot_env)
        with mock.patch.dict(os.environ, {"ENV_FILE": str(path)} | env, clear=True):
            return ask.service_url()

    def test_the_environment_stands_above_the_file_and_the_file_above_the_default(self):
        self.assertEqual(self.url(), "http://127.0.0.1:9000/lambda-url/ask/")
        self.assertEqual(self.url(PORT=" "), "http://127.0.0.1:9000/lambda-url/ask/")
        for line in ("PORT=9100", " export PORT = '9100' ", '# PORT=1\nnonsense\nPORT="9100"'):
            with self.subTest(line):
                self.assertEqual(self.url(line), "http://127.0.0.1:9100/lambda-url/ask/")
        self.assertEqual(self.url("PORT=9100", PORT="9200"), "http://127.0.0.1:9200/lambda-url/ask/")
        self.assertEqual(self.url("PORT=abc", SOURCED_URL="https://docs.example"), "https://docs.example/")

    def test_no_file_is_no_mistake(self):
        with mock.patch.dict(os.environ, {"ENV_FILE": "/nonexistent/settings"}, clear=True):
            self.assertEqual(ask.service_url(), "http://127.0.0.1:9000/lambda-url/ask/")

    def test_a_port_is_a_number(self):
        for value in ("abc", "0", "65536", "-1"):
            with self.subTest(value), self.assertRaisesRegex(ask.Failure, "1 to 65535"):
                self.url(PORT=value)


class Clean(unittest.TestCase):
    def test_nothing_steers_the_terminal(self):
        for code in (0, 0x1B, 0x0D, 0x7F, 0x85, 0x9B, 0x200E, 0x200F, 0x202A, 0x202E, 0x2066, 0x2069, 0x61C):
            with self.subTest(f"U+{code:04X}"):
                self.assertEqual(ask.clean(f"a{chr(code)}b"), "ab")

    def test_text_stays(self):
        text = "é → “–” 🌊 עברית\tand\nmore\u200d\xa0"
        self.assertEqual(ask.clean(text), text)


class Refusing(BaseHTTPRequestHandler):
    """A service that refuses every question in words beyond ASCII."""

    def do_POST(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        done = json.dumps({"outcome": "abstained", "answer": "Not in “this” \x1bhandbook."})
        self.wfile.write(f"event: done\ndata: {done}\n\n".encode())

    def log_message(self, *_):
        pass


class Command(unittest.TestCase):
    def run_with(self, *arguments, **env):
        env = {"PATH": os.environ["PATH"], "ENV_FILE": os.devnull, "PORT": str(free_port())} | env
        return subprocess.run([sys.executable, PROGRAM, *arguments], env=env, capture_output=True, timeout=30)

    def test_mistakes_are_one_line(self):
        for question, env, said in [
            ("why?", {}, b"No service at"),
            ("why?", {"PORT": "abc"}, b"PORT is 'abc'"),
            (b"caf\xe9?", {}, b"no text"),
            ("why?", {"SOURCED_URL": "nowhere"}, b"is not an address"),
        ]:
            with self.subTest(said):
                done = self.run_with(question, **env)
                self.assertEqual((done.returncode, done.stdout, done.stderr.count(b"\n")), (1, b"", 1), done.stderr)
                self.assertIn(said, done.stderr)

    def test_a_terminal_of_ascii_is_no_mistake(self):
        server = self.enterContext(HTTPServer(("127.0.0.1", 0), Refusing))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        env = {"PYTHONIOENCODING": "ascii", "SOURCED_URL": f"http://127.0.0.1:{server.server_port}"}
        done = self.run_with("why?", **env)
        self.assertEqual((done.returncode, done.stdout), (3, b"Not in ?this? handbook.\n"), done.stderr)
        event = json.loads(self.run_with("--json", "why?", **env).stdout)
        self.assertEqual(event["data"]["answer"], "Not in “this” \x1bhandbook.")


if __name__ == "__main__":
    unittest.main()
