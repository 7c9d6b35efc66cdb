"""Building the workspace, once for everything: one profile (dev) and one choice of packages (all of them), so that a
binary, a served function and a test share what was compiled.
"""

from .checkout import TARGET
from .processes import run

CARGO = ["cargo", "build", "--locked"]


def binaries(env=None):
    """Builds every program of the workspace."""
    run(CARGO, env=env)


def program(name):
    """A program that `binaries` built."""
    return TARGET / "debug" / name
