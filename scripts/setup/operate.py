"""Commands that look after a running service: they need its table and nothing else."""

import os

from . import build, processes, settings, tools


def run(task, *arguments):
    """Runs the ingest program's task on the configured table, or on this machine's own, and returns its exit code."""
    # .env is read here already, and a manifest's path is known to the scripts alone.
    env = settings.given() | {"ENV_FILE": os.devnull}
    env.pop("CORPUS", None)
    tools.ensure()
    build.binaries()
    with settings.with_counters(env) as env:
        return processes.run([build.program("ingest"), task, *arguments], env=env, check=False)
