"""What the settings refuse before anything is started."""

import os
import tempfile
import unittest
from contextlib import nullcontext
from pathlib import Path
from unittest import mock

from setup import settings
from setup.checkout import ROOT, Failure


class Settings(unittest.TestCase):
    def given(self, **env):
        with mock.patch.dict(os.environ, {"ENV_FILE": os.devnull} | env, clear=True):
            return settings.given()

    def test_a_direct_url_alone_is_refused(self):
        with self.assertRaises(Failure) as refused:
            self.given(DATABASE_DIRECT_URL="postgres://owner@db.example/sourced", DATABASE_URL=" ")
        self.assertIn("DATABASE_URL is not", str(refused.exception))
        self.assertNotIn("\n", str(refused.exception))
        self.assertNotIn("db.example", str(refused.exception))
        both = {"DATABASE_DIRECT_URL": "postgres://owner@db.example/", "DATABASE_URL": "postgres://reader@db.example/"}
        self.assertEqual(self.given(**both), {"ENV_FILE": os.devnull} | both)

    def test_a_file_that_cannot_be_used_is_said_in_one_line(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        latin = folder / "latin"
        latin.write_bytes(b"MODE=caf\xe9")
        line = folder / "line"
        line.write_text("PORT 9000")
        for path, said in [(folder, "cannot read"), (latin, "is not UTF-8"), (line, "line 1 is not understood")]:
            with self.subTest(said), self.assertRaises(Failure) as refused:
                self.given(ENV_FILE=str(path))
            self.assertIn(said, str(refused.exception))
            self.assertNotIn("\n", str(refused.exception))
        self.assertEqual(self.given(ENV_FILE=str(folder / "none")), {"ENV_FILE": str(folder / "none")})

    def test_a_database_of_ones_own_is_taken_as_it_is(self):
        env = {"DATABASE_URL": "postgres://reader@db.example/sourced"}
        with settings.with_database(env) as taken:
            self.assertEqual(taken, env)

    def test_results_are_the_checkouts_unless_named(self):
        env = {"DATABASE_URL": "postgres://reader@db.example/sourced", "USAGE_TABLE": "sourced"}
        with settings.complete(env) as completed:
            self.assertEqual(completed["EVAL_RESULTS"], str(ROOT / "eval" / "results"))
        with settings.complete(env | {"EVAL_RESULTS": "s3://results/eval"}) as completed:
            self.assertEqual(completed["EVAL_RESULTS"], "s3://results/eval")

    def test_a_bucket_is_opened_with_the_callers_key(self):
        key = {"AWS_ACCESS_KEY_ID": "theirs", "AWS_SESSION_TOKEN": "theirs", "AWS_REGION": "eu-west-1"}
        local = mock.patch("setup.counters.local", return_value=nullcontext(8000))
        for results, kept in [("s3://results", "theirs"), ("/var/results", "local")]:
            with self.subTest(results), local, settings.with_counters(key | {"EVAL_RESULTS": results}) as env:
                self.assertEqual(env["AWS_ACCESS_KEY_ID"], kept)
                self.assertEqual(env["AWS_ENDPOINT_URL_DYNAMODB"], "http://127.0.0.1:8000")

    def test_a_test_run_takes_no_results_of_its_caller(self):
        with mock.patch.dict(os.environ, {"EVAL_RESULTS": "s3://results", "AWS_ENDPOINT_URL_S3": "https://s3.example"}):
            self.assertFalse({"EVAL_RESULTS", "AWS_ENDPOINT_URL_S3"} & settings.of_tests().keys())

    def test_a_port_is_a_number(self):
        self.assertEqual(settings.port({"PORT": "9100"}), 9100)
        for value in ("abc", "0", "65536", "-1", "9000.5"):
            with self.subTest(value), self.assertRaisesRegex(Failure, "1 to 65535"):
                settings.port({"PORT": value})


if __name__ == "__main__":
    unittest.main()
