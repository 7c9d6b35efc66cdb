"""What the settings refuse before anything is started."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from setup import settings
from setup.checkout import Failure


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

    def test_a_port_is_a_number(self):
        self.assertEqual(settings.port({"PORT": "9100"}), 9100)
        for value in ("abc", "0", "65536", "-1", "9000.5"):
            with self.subTest(value), self.assertRaisesRegex(Failure, "1 to 65535"):
                settings.port({"PORT": value})


if __name__ == "__main__":
    unittest.main()
