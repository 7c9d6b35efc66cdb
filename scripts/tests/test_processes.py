"""Who stops a program that commands share, also when a signal cuts its start short."""

import signal
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from setup import processes
from setup.processes import Stopped, shared


class Shared(unittest.TestCase):
    def setUp(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(processes, "LOCAL", folder))
        self.running = False
        self.log = []

    def start(self):
        self.log.append("start")
        self.running = True

    def stop(self):
        self.log.append("stop")
        self.running = False

    def held(self, start=None):
        return shared("program", running=lambda: self.running, start=start or self.start, stop=self.stop)

    def test_the_last_one_out_stops_it(self):
        with self.held():
            with self.held():
                pass
            self.assertEqual(self.log, ["start"])
        self.assertEqual(self.log, ["start", "stop"])

    def test_a_start_that_is_cut_short_is_stopped(self):
        def cut_short():
            self.start()
            raise Stopped(signal.SIGINT)

        with self.assertRaises(Stopped), self.held(cut_short):
            self.fail("it was entered")
        self.assertEqual(self.log, ["start", "stop"])

    def test_a_start_that_is_cut_short_leaves_it_to_who_else_holds_it(self):
        def cut_short():
            raise Stopped(signal.SIGINT)

        with self.held():
            self.running = False  # As if it did not answer the second one.
            with self.assertRaises(Stopped), self.held(cut_short):
                self.fail("it was entered")
            self.assertEqual(self.log, ["start"])


if __name__ == "__main__":
    unittest.main()
