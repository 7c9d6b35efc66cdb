"""Running other programs so that none outlives the command that needs it.

A program runs in a session of its own, so a Ctrl-C reaches only the command, which then ends what it started in order.
Programs that several commands share (the database, the counters) are held by file locks: the kernel drops a lock when
its holder dies, also by kill -9, so the last one out is always known, and stops them. Which process that is, their pid
files say; one that names a process of another program is not believed.
"""

import ctypes
import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from .checkout import LOCAL, ROOT, Failure

GRACE_S = 5  # Enough for a clean end of everything we start; a person waits no longer after Ctrl-C.


class Stopped(BaseException):
    """SIGINT, SIGTERM or SIGHUP arrived: unwind, and end what was started."""

    def __init__(self, number):
        self.number = number


def command(main):
    """Runs a command's `main`: signals unwind it, a `Failure` becomes its one line, and its result the exit code."""

    def on_signal(number, _frame):
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, signal.SIG_IGN)  # The unwinding itself must not be cut short.
        raise Stopped(number)

    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, on_signal)
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"{os.path.relpath(sys.argv[0])}: {failure}")
    except Stopped as stopped:
        sys.exit(128 + stopped.number)


def run(arguments, *, env=None, cwd=ROOT, check=True, stdout=None):
    """Runs a program to its end with our output, and returns its exit code."""
    with started(arguments, env=env, cwd=cwd, stdout=stdout) as process:
        code = process.wait()
    if check and code != 0:
        raise Failure(f"`{_shown(arguments)}` failed with exit code {code} (its output is above)")
    return code


def output(arguments, *, env=None, cwd=ROOT, text=None):
    """Runs a short program and returns what it printed; its error output becomes the failure's line."""
    done = subprocess.run(arguments, env=env, cwd=cwd, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        raise Failure(f"`{_shown(arguments)}` failed: {lines[-1]}")
    return done.stdout


@contextmanager
def started(arguments, *, env=None, cwd=ROOT, stdout=None, stderr=None):
    """A program that runs while the block does, and is ended with its descendants when the block ends."""
    process = subprocess.Popen(
        [str(argument) for argument in arguments],
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
        preexec_fn=_end_with_parent if sys.platform == "linux" else None,
    )
    try:
        yield process
    finally:
        end(process)


def end(process):
    """Ends a program and all its descendants: politely, then after a grace period for good."""
    if process.poll() is not None:
        return
    family = _descendants(process.pid)
    process.terminate()
    if not wait_for(lambda: process.poll() is not None and not any(map(alive, family)), GRACE_S, every=0.02):
        for pid in {*family, *_descendants(process.pid), process.pid}:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # It ended between the look and the signal.
        process.wait()


def alive(pid):
    """Whether a process exists and has not ended (a zombie has)."""
    entry = _table().get(pid)
    return entry is not None and entry.state != "Z"


def name_of(pid):
    """The program a process runs, empty when it has ended."""
    entry = _table().get(pid)
    return entry.name if entry and entry.state != "Z" else ""


@contextmanager
def alone(name):
    """Keeps the commands of this checkout from doing the same thing at once."""
    LOCAL.mkdir(exist_ok=True)
    with open(LOCAL / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def shared(name, *, running, start, stop):
    """Holds the program `name` of this checkout: starts it if it is not running, stops it if nobody else holds it."""
    with ExitStack() as held:
        with alone(name):
            users = held.enter_context(open(LOCAL / f"{name}.users", "w"))
            fcntl.flock(users, fcntl.LOCK_SH)
        # A start that is cut short may have started something, so it is inside.
        try:
            with alone(name):
                if not running():
                    start()
            yield
        finally:
            with alone(name):
                fcntl.flock(users, fcntl.LOCK_UN)
                try:
                    fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    pass  # Another command still works with it and will stop it.
                else:
                    stop()


def free_port(wanted=0):
    """A TCP port of 127.0.0.1 that is free now: the wanted one if it is."""
    for port in (wanted, 0) if wanted else (0,):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise Failure("no free TCP port on 127.0.0.1")


def listening(port):
    """Whether something accepts connections on a port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(condition, seconds, every=0.05):
    """Waits until `condition()` holds; false when it does not in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(every)
    return False


class _Entry(NamedTuple):
    parent: int
    state: str
    name: str


def _table():
    """The running processes: from /proc where there is one (small images have no ps), else from ps."""
    table = {}
    if os.path.exists("/proc/self/stat"):
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                line = stat.read_text(errors="replace")
            except OSError:
                continue  # It ended between the listing and the reading.
            # `pid (name) state ppid …`, where the name may itself hold spaces and brackets.
            name, rest = line.split("(", 1)[1].rsplit(")", 1)
            state, parent = rest.split()[:2]
            table[int(stat.parent.name)] = _Entry(int(parent), state, name)
    else:
        for line in output(["ps", "-A", "-o", "pid=,ppid=,stat=,comm="]).splitlines():
            pid, parent, state, name = line.split(None, 3)
            table[int(pid)] = _Entry(int(parent), state[0], os.path.basename(name))
    return table


def _descendants(pid):
    children = {}
    for child, entry in _table().items():
        children.setdefault(entry.parent, []).append(child)
    found, todo = [], [pid]
    while todo:
        of_this = children.get(todo.pop(), [])
        found += of_this
        todo += of_this
    return found


def _end_with_parent():
    """Linux: a command that is killed outright takes what it started with it."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _shown(arguments):
    return " ".join(str(argument) for argument in arguments)
