"""The real questions on the real corpus, against the floors and the baseline; and that what is recorded of them is what
a replay makes, what the service gives and what its page shows."""

import json
import os
import queue
import subprocess
import tempfile
import threading
import time
import unittest
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import urlopen

from setup import build, scripted
from setup.checkout import ROOT

NEXT = "/2018-06-01/runtime/invocation/next"
FUNCTION_S = 900
# The program keeps so much of a function's time for recording (functions/eval/src/lambda.rs).
MARGIN_S = 120


def evaluate(*arguments, **settings):
    """Runs the program; its exit code, and what it said."""
    env = os.environ | {"LOG_LEVEL": "warn"} | settings
    command = [build.program("eval"), *arguments]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout + done.stderr


def judge(supports):
    """A judge that finds supported what `supports` does, given a statement's text and the passages it cites."""

    def reply(message):
        task = json.loads(message)
        passages = {passage["passage"]: passage["text"] for passage in task["passages"]}
        verdicts = [
            {
                "statement": statement["statement"],
                "verdict": "supported"
                if supports(statement["text"], [passages[label] for label in statement["cites"]])
                else "unsupported",
            }
            for statement in task["statements"]
        ]
        return json.dumps({"verdicts": verdicts})

    return reply


def stands_there(text, passages):
    """Whether the words of a statement stand in a passage in this order."""
    # The cells of a table's row are shown with a line between them.
    words = text.replace(" | ", " ").split()
    return any(" ".join(words) in " ".join(passage.split()) for passage in passages)


class Runtime(BaseHTTPRequestHandler):
    """Lambda's runtime API, as far as a function needs it: hands out invocations and takes their replies."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        left_s = self.server.events.get()
        body = b"{}"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Lambda-Runtime-Aws-Request-Id", "an-invocation")
        self.send_header("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:000000000000:function:eval")
        self.send_header("Lambda-Runtime-Deadline-Ms", str(int((time.time() + left_s) * 1000)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.replies.put((self.path.rsplit("/", 1)[-1], json.loads(body)))
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def function():
    """The program as a Lambda function: called with the seconds it has left, it gives its reply."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Runtime)
    server.daemon_threads = True
    # The function is ended while it waits for its next invocation.
    server.handle_error = lambda *_: None
    server.events, server.replies = queue.Queue(), queue.Queue()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    env = os.environ | {"LOG_LEVEL": "warn", "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{server.server_port}"}
    env |= {"AWS_LAMBDA_FUNCTION_NAME": "eval", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024"}
    env |= {"AWS_LAMBDA_FUNCTION_VERSION": "1", "AWS_LAMBDA_LOG_STREAM_NAME": "s", "AWS_LAMBDA_LOG_GROUP_NAME": "g"}
    # As in the cloud, where there is no checkout.
    with (
        tempfile.TemporaryDirectory() as elsewhere,
        subprocess.Popen([build.program("eval")], env=env, cwd=elsewhere) as process,
    ):

        def invoke(left_s):
            server.events.put(left_s)
            return server.replies.get(timeout=600)

        try:
            yield invoke
        finally:
            process.kill()
            server.shutdown()
            server.server_close()


class Evaluation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if "SOURCED_TEST_URL" not in os.environ:
            raise AssertionError("SOURCED_TEST_URL is not set: scripts/test starts what this needs")
        cls.results = Path(os.environ["EVAL_RESULTS"])
        cls.code, cls.said = evaluate()
        print(cls.said)
        # Before any other test records another run.
        recorded = cls.results / os.environ["CORPUS"]
        cls.stored, cls.html = (recorded / "run.jsonl").read_bytes(), (recorded / "run.html").read_bytes()

    def read(self, path):
        with urlopen(os.environ["SOURCED_TEST_URL"] + path, timeout=30) as response:
            return response.read()

    def run_shown(self):
        runs = json.loads(self.read("api/evaluation"))["runs"]
        return next(run for run in runs if run["slug"] == os.environ["CORPUS"])

    def test_the_real_questions_pass(self):
        self.assertEqual(self.code, 0)

    def test_a_replay_makes_the_same_report_byte_for_byte_without_anything_else(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "run.jsonl"
            copy.write_bytes(self.stored)
            # No database, no counters, no model, no results.
            done = subprocess.run(
                [build.program("eval"), "replay", copy], env={}, cwd=folder, capture_output=True, text=True, timeout=60
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(copy.with_suffix(".html").read_bytes() == self.html)
        self.assertTrue(done.stdout in self.said)

    def test_the_service_gives_what_was_recorded(self):
        shown = self.run_shown()
        recorded = self.results / shown["slug"]
        rows = []
        for page in range(1, shown["rows"]["pages"] + 1):
            sent = self.read(f"api/evaluation/{shown['slug']}/rows/{page}.json")
            self.assertEqual(sent, (recorded / "rows" / f"{page}.json").read_bytes())
            rows += json.loads(sent)["rows"]
        self.assertEqual(len(rows), shown["questions"])
        right = [row["right"] for row in rows]
        self.assertEqual(right, sorted(right), "failures first")
        for plot in shown["plots"]:
            svg = self.read(f"api/evaluation/{shown['slug']}/plots/{plot['name']}.svg")
            self.assertEqual(svg, (recorded / "plots" / f"{plot['name']}.svg").read_bytes())

    def test_the_page_shows_the_run_with_its_figures_and_plots(self):
        browser = ["chromium", "--headless", "--no-sandbox", "--virtual-time-budget=20000", "--dump-dom"]
        address = os.environ["SOURCED_TEST_URL"] + "evaluation"
        page = subprocess.run([*browser, address], capture_output=True, text=True, timeout=120, check=True).stdout
        shown = self.run_shown()
        answered = next(metric for metric in shown["metrics"] if metric["name"] == "answer.answered")
        self.assertIn(f"<h2>{shown['title']}</h2>", page)
        self.assertIn(f"{answered['hits']} of {answered['n']}", page)
        for plot in shown["plots"]:
            self.assertIn(f"plots/{plot['name']}.svg", page)

    def test_a_judge_that_knows_planted_sentences_is_believed_and_another_one_is_void(self):
        judges = (
            (judge(stands_there), 0, "passed"),
            (judge(lambda *_: True), 2, "could_not_measure"),
            (lambda _: "They all look fine to me.", 2, "could_not_measure"),
        )
        for reply, expected, outcome in judges:
            with self.subTest(outcome), scripted.serving(reply) as url:
                code, said = evaluate("judge", JUDGE_MODEL="scripted", JUDGE_BASE_URL=url)
                told = [line for line in said.splitlines() if "judge" in line or line.startswith("  ballots_failed")]
                print("", *told, sep="\n  ")
                self.assertEqual(code, expected, said)
                shown = self.run_shown()
                self.assertEqual((shown["outcome"], shown["judge"]), (outcome, "scripted"))
                supported = [metric for metric in shown["metrics"] if metric["name"] == "faithfulness.supported"]
                self.assertEqual(len(supported), 1 if code == 0 else 0)
        code, said = evaluate("judge")
        self.assertEqual((code, "set JUDGE_MODEL" in said), (2, True), said)

    def test_a_function_asks_in_slices_and_records_the_same_questions(self):
        before = self.run_shown()
        with function() as invoke:
            # No time is left, and one question is asked all the same: whoever calls again gets on.
            for done in (1, 2):
                kind, part = invoke(MARGIN_S - 1)
                self.assertEqual((kind, part), ("response", {"finished": False, "done": done, "of": part["of"]}))
            kind, whole = invoke(FUNCTION_S)
        self.assertEqual((kind, whole.get("finished"), whole.get("outcome")), ("response", True, "passed"), whole)
        after = self.run_shown()
        self.assertNotEqual(after["at"], before["at"])
        of_time = ("latency.", "cost.")
        figures = [
            {metric["name"]: metric["value"] for metric in run["metrics"] if not metric["name"].startswith(of_time)}
            for run in (before, after)
        ]
        self.assertEqual(figures[0], figures[1])
        answered = next(metric for metric in after["metrics"] if metric["name"] == "answer.answered")
        self.assertEqual(answered["history"][-1]["at"], before["at"])


if __name__ == "__main__":
    unittest.main()
