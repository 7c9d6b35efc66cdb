"""scripts/mode and scripts/usage, with the local DynamoDB."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1]


def run(name, *arguments):
    """A script's exit code and what it said, without the compiler's lines."""
    env = os.environ | {"USAGE_TABLE": "sourced-operated", "CARGO_TERM_QUIET": "true"}
    done = subprocess.run(
        [sys.executable, SCRIPTS / name, *arguments], env=env, capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout.strip(), done.stderr.strip()


class Operate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Without an endpoint the table would be one of AWS's own.
        if "AWS_ENDPOINT_URL_DYNAMODB" not in os.environ:
            raise AssertionError("AWS_ENDPOINT_URL_DYNAMODB is not set: scripts/test starts what this needs")

    def test_a_mode_is_stored_and_told(self):
        for mode in ("read-only", "off", "live"):
            self.assertEqual(run("mode", mode), (0, mode, ""))
            self.assertEqual(run("mode"), (0, mode, ""))

    def test_a_day_is_summed_up(self):
        code, said, _ = run("usage", "2026-01-31")
        self.assertEqual(code, 0)
        self.assertRegex(said, r"^2026-01-31 \(UTC\): 0 questions, 0 counted\n")
        code, said, _ = run("usage")
        self.assertEqual((code, bool(re.match(r"\d{4}-\d\d-\d\d \(UTC\)", said))), (0, True))

    def test_mistakes_are_a_line_each(self):
        for command, says in (
            (("mode", "on"), "there is no mode on: it must be live, read-only or off"),
            (("usage", "today"), "today is no day: it must be written like 2026-12-01"),
            (("usage", "2026-02-30"), "2026-02-30 is no day"),
        ):
            with self.subTest(command):
                code, said, complaint = run(*command)
                self.assertEqual((code, said), (2, ""))
                self.assertIn(says, complaint)
                self.assertEqual(complaint.count("\n"), 0, complaint)
        code, _, complaint = run("mode", "off", "now")
        self.assertNotEqual(code, 0)
        self.assertIn("Usage: scripts/mode", complaint)


if __name__ == "__main__":
    unittest.main()
