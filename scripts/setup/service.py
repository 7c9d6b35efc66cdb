"""The service on this machine: `cargo lambda watch` with the `ask` function behind it, until the block ends."""

import http.client
import time
from contextlib import contextmanager

from .checkout import Failure
from .processes import listening, started
from .tools import cargo_lambda

FUNCTION = "ask"
# Its program is built before, so what this waits for is the start of a process that loads its model. A function that
# ends at once is started again and again, its requests left waiting: only the clock tells.
READY_S = 120
# As in the cloud, a visitor does not wait for another one's answer.
INSTANCES = 2


def url(port):
    """The service's root."""
    return f"http://127.0.0.1:{port}/lambda-url/{FUNCTION}/"


@contextmanager
def served(env, port, *, reload):
    """Serves `ask` on a port, and yields its URL once it answers."""
    if listening(port):
        raise Failure(f"port {port} is in use: stop what uses it, or choose another with PORT=")
    env = env | {"PUBLIC_URL": env.get("PUBLIC_URL", url(port)), "PORT": str(port)}
    # The function answers preflights itself, as it does behind a Function URL.
    watch = [cargo_lambda(), "lambda", "watch", "--bin", FUNCTION, "--locked", "--concurrency", INSTANCES]
    watch += ["--disable-cors", "--invoke-address", "127.0.0.1", "--invoke-port", port]
    if not reload:
        watch.append("--ignore-changes")
    with started(watch, env=env) as process:
        _wait_until_ready(process, port)
        yield url(port), process


def _wait_until_ready(process, port):
    deadline = time.monotonic() + READY_S
    last = "it never accepted a connection"
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise Failure(f"`cargo lambda watch` ended with exit code {process.returncode} (its output is above)")
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", f"/lambda-url/{FUNCTION}/api/status")
            response = connection.getresponse()
            last = f"status {response.status}: {response.read(300).decode(errors='replace')}"
            if response.status == 200:
                return
        except OSError as error:
            last = str(error)
        time.sleep(0.1)
    raise Failure(f"the service did not come up in {READY_S} s ({last}): see what {FUNCTION} says above")
