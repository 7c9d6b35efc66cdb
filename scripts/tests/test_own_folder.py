"""Walks README's "Point it at your own folder" as it is printed, with a folder that holds each format that is read.

Run by scripts/test, which provides the database. Only the folder and the corpus's name are put in, so that a corpus of
the reader's own that is called as in README stays untouched.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from setup.checkout import ROOT
from setup.processes import free_port

NAME = "own-folder-walk"
FILES = {
    "kettle.html": "<!doctype html><title>Kettle</title><main><h1>Kettle</h1>"
    "<p>The kettle of the Harrow office is descaled on the first Monday of a month.</p></main>",
    "parking.md": "---\ndepartment: facilities\n---\n"
    "# Parking\n\nThe Harrow office has eleven parking places for visitors.\n",
    "alarm.txt": "Alarm\n\nThe alarm panel of the Harrow office is reset by holding the green key for nine seconds.\n",
    "lines.jsonl": json.dumps(
        {
            "id": "printer",
            "title": "Printer",
            "text": "The printer of the Harrow office takes cartridge type LX-204.",
            "url": "https://intranet.example/printer",
            "metadata": {"floor": "2"},
        }
    )
    + "\n",
}
# A question to each file, words of the answer, and where its citation leads.
QUESTIONS = [
    ("When is the kettle of the Harrow office descaled?", "first Monday", "/sources/kettle"),
    ("How many parking places for visitors has the Harrow office?", "eleven parking places", "/sources/parking"),
    ("How is the alarm panel of the Harrow office reset?", "green key", "/sources/alarm"),
    ("Which cartridge does the printer of the Harrow office take?", "LX-204", "https://intranet.example/printer"),
]
READY_S = 300


def commands():
    """The three commands in README, in order."""
    section = (ROOT / "README.md").read_text().split("## Point it at your own folder")[1]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL)[1]
    *first, second, third = block.rstrip().split("\n")
    return "\n".join(first), second, third


class OwnFolder(unittest.TestCase):
    def setUp(self):
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory()))
        # Anyone may enter it: Postgres and the function may run as another user than this.
        self.home.chmod(0o755)
        (self.home / "scripts").symlink_to(ROOT / "scripts")
        folder = self.home / "folder"
        folder.mkdir()
        for name, text in FILES.items():
            (folder / name).write_text(text)
        self.env = os.environ | {"PORT": str(free_port())}
        self.env.pop("CORPUS", None)

    def put_in(self, command):
        return command.replace("/path/to/your/folder", str(self.home / "folder")).replace("notes", NAME)

    def test_three_commands_serve_it(self):
        write, ingest, serve = map(self.put_in, commands())
        subprocess.run(["sh", "-c", write], cwd=self.home, env=self.env, check=True)
        subprocess.run(["sh", "-c", ingest], cwd=self.home, env=self.env, check=True)
        log = self.home / "log"
        with log.open("wb") as output:
            serving = subprocess.Popen(
                ["sh", "-c", f"exec env {serve}"], cwd=self.home, env=self.env, stdout=output, stderr=output
            )
        try:
            self.wait_until_ready(serving, log)
            self.assertIn("embedded 0 texts", log.read_text())
            for question, words, source in QUESTIONS:
                with self.subTest(question):
                    said = self.ask(question)
                    self.assertIn(words, said)
                    self.assertIn(source, said)
        finally:
            serving.send_signal(signal.SIGINT)
            serving.wait(timeout=60)

    def ask(self, question):
        command = [sys.executable, "scripts/ask", question]
        asked = subprocess.run(command, cwd=self.home, env=self.env, capture_output=True, text=True, timeout=60)
        self.assertEqual(asked.returncode, 0, asked.stdout + asked.stderr)
        return " ".join(asked.stdout.split())

    def wait_until_ready(self, serving, log):
        deadline = time.monotonic() + READY_S
        while not re.search(r"^Ready: http", log.read_text(), re.MULTILINE):
            self.assertIsNone(serving.poll(), log.read_text())
            self.assertLess(time.monotonic(), deadline, log.read_text())
            time.sleep(0.2)


if __name__ == "__main__":
    unittest.main()
