"""When the PostgreSQL pages are brought, and when they are there already."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from setup import postgresql_pages, processes


class Ensure(unittest.TestCase):
    def setUp(self):
        home = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.pages = home / "pages"
        self.pages.mkdir()
        self.enterContext(mock.patch.object(processes, "LOCAL", home))
        self.enterContext(mock.patch.object(postgresql_pages, "PAGES", self.pages))
        self.bring = self.enterContext(mock.patch.object(postgresql_pages, "_bring"))

    def check(self, brought):
        self.bring.reset_mock()
        postgresql_pages.ensure()
        self.assertEqual(self.bring.called, brought)

    def test_they_are_brought_unless_all_are_there(self):
        self.check(brought=True)
        (self.pages / postgresql_pages.ORIGIN).write_text("a test")
        self.check(brought=True)
        listed = postgresql_pages._listed()
        for name in listed:
            (self.pages / name).touch()
        self.check(brought=False)
        (self.pages / listed[-1]).unlink()
        self.check(brought=True)


if __name__ == "__main__":
    unittest.main()
