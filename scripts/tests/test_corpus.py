"""What is said of a manifest that cannot be used, before anything is fetched or built."""

import tempfile
import unittest
from pathlib import Path

from setup import corpus
from setup.checkout import Failure


class Name(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def refused(self, path):
        with self.assertRaises(Failure) as refused:
            corpus.name(path)
        said = str(refused.exception)
        self.assertNotIn("\n", said)
        self.assertIn(str(path), said)
        return said

    def written(self, content):
        path = self.folder / "manifest.toml"
        path.write_bytes(content)
        return path

    def test_the_service_takes_the_name(self):
        for name in ("notes", "postgresql-17", "a" * 64):
            with self.subTest(name):
                self.assertEqual(corpus.name(self.written(f'name = "{name}"'.encode())), name)

    def test_a_name_that_the_service_refuses(self):
        for value in ('""', '"Notes"', '"our notes"', f'"{"a" * 65}"', '"n\u00f6te"', "7", '["a"]', '"a\\n"'):
            with self.subTest(value):
                self.assertIn("a to z, 0 to 9 and -", self.refused(self.written(f"name = {value}".encode())))

    def test_no_manifest(self):
        self.assertIn("has no `name`", self.refused(self.written(b'title = "Notes"')))
        self.assertIn("is not a manifest", self.refused(self.written(b"name = ")))
        self.assertIn("is not a manifest", self.refused(self.written(b'name = "caf\xe9"')))
        self.assertIn("cannot read", self.refused(self.folder))
        self.assertIn("cannot read", self.refused(self.folder / "none.toml"))

    def test_the_manifest_of_a_path_must_be_there(self):
        for given in (self.folder / "none.toml", self.folder / ("a" * 300 + ".toml")):
            with self.subTest(given), self.assertRaises(Failure) as refused:
                corpus.chosen({"CORPUS": str(given)})
            self.assertIn(str(given), str(refused.exception))

    def test_every_manifest_of_the_repository_has_a_name(self):
        for path in corpus.MANIFESTS.glob("*.toml"):
            self.assertEqual(corpus.name(path), path.stem)


if __name__ == "__main__":
    unittest.main()
