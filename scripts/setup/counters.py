"""The local DynamoDB: an emulator of our own build (`shared/testing`), its data in `.local/dynamodb`.

It holds the corpus item, the mode, prepared answers, counters and records. It is shared by the commands of this
checkout (`processes.shared`).
"""

import os
import signal
import subprocess
from contextlib import contextmanager

from .checkout import LOCAL, TARGET, Failure
from .processes import alive, end, free_port, listening, name_of, shared, wait_for

HOME = LOCAL / "dynamodb"
PROGRAM = "dynamodb-local"  # No longer than the 15 characters that the kernel keeps of a name.
START_S = 20
STOP_S = 5


@contextmanager
def local():
    """Holds the emulator, started if needed, and yields its port. It must have been built."""
    with shared("dynamodb", running=_running, start=_start, stop=_stop):
        yield _number("port")


def _start():
    HOME.mkdir(parents=True, exist_ok=True)
    port = free_port(_number("port") or 0)
    log = HOME / "log"
    with open(log, "w") as file:
        process = subprocess.Popen(
            [TARGET / "debug" / PROGRAM, "--port", str(port), "--file", HOME / "data.sqlite"],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,  # It may outlive this command, while another works with it.
        )
    try:
        (HOME / "pid").write_text(str(process.pid))
        (HOME / "port").write_text(str(port))
        if not wait_for(lambda: process.poll() is not None or listening(port), START_S) or process.poll() is not None:
            last = (log.read_text(errors="replace").splitlines() or ["nothing logged"])[-1]
            raise Failure(f"the DynamoDB emulator does not start ({last}): rm -r {HOME} to begin anew")
    except BaseException:
        end(process)
        raise


def _running():
    pid = _number("pid")
    return pid is not None and name_of(pid) == PROGRAM and listening(_number("port"))


def _stop():
    pid = _number("pid")
    if pid is None or name_of(pid) != PROGRAM:
        return
    os.kill(pid, signal.SIGTERM)
    if not wait_for(lambda: not alive(pid), STOP_S, every=0.02):
        os.kill(pid, signal.SIGKILL)


def _number(name):
    try:
        return int((HOME / name).read_text())
    except (FileNotFoundError, ValueError):
        return None
