"""An S3 of the tests' own: moto's server, which holds everything in memory and is gone when the block ends."""

from contextlib import contextmanager

from .checkout import LOCAL, Failure
from .processes import free_port, listening, started, wait_for
from .tools import test_tool

START_S = 30


@contextmanager
def local(env):
    """Runs the server on a free port, and yields its URL."""
    port = free_port()
    path = LOCAL / "s3.log"
    with open(path, "w") as log:
        serve = [test_tool("moto_server"), "-H", "127.0.0.1", "-p", port]
        with started(serve, env=env, stdout=log, stderr=log) as process:
            ready = wait_for(lambda: process.poll() is not None or listening(port), START_S)
            if not ready or process.poll() is not None:
                raise Failure(f"the tests' S3 does not start: see {path}")
            yield f"http://127.0.0.1:{port}"
