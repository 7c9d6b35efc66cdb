"""Where things are in this checkout, and how a command speaks: progress on stderr, one line when it cannot go on."""

import os
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCAL = ROOT / ".local"
VENV = ROOT / ".venv"
# Cargo's own variable, so that a shared target directory keeps working.
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


class Failure(Exception):
    """A command cannot go on. The message is one line and names what would help."""


def say(message):
    print(message, file=sys.stderr, flush=True)


class Phases:
    """How long each part of a command took, for its last line."""

    def __init__(self):
        self.seconds = {}

    @contextmanager
    def phase(self, name):
        start = time.monotonic()
        yield
        self.seconds[name] = self.seconds.get(name, 0) + time.monotonic() - start

    @contextmanager
    def timed(self, name, block):
        """Enters a block, counting only the time that entering takes."""
        with ExitStack() as held:
            with self.phase(name):
                value = held.enter_context(block)
            yield value

    def __str__(self):
        return ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.seconds.items())
