"""The local Postgres 18 with pgvector, its data in `.local/postgres`, reached over TCP on 127.0.0.1 with passwords.

It is shared by the commands of this checkout (`processes.shared`). Postgres refuses to run as root, so root runs it as
`nobody`. Roles: `postgres` is the superuser, for tests; `sourced_owner` owns the database and migrates and ingests;
`sourced_ask` may only read, through the group `sourced_reader` to which the migrations grant.
"""

import os
import pwd
import shutil
import subprocess
from contextlib import contextmanager

from .checkout import LOCAL, Failure, say
from .processes import Stopped, free_port, name_of, output, shared, wait_for
from .secrets import secret
from .tools import postgres_bin

HOME = LOCAL / "postgres"
DATA = HOME / "data"
LOG = HOME / "log"
PORT = LOCAL / "postgres.port"
DATABASE = "sourced"
START_S = 60  # Recovery after a kill replays what was not yet written.
PID_FILE_S = 1  # Postgres writes it first of all.

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    # A socket's path may hold 107 bytes only, which a deep checkout exceeds.
    "unix_socket_directories": "",
    # Test runs clone a template database at a time and use many at once.
    "max_connections": "200",
}

# Idempotent: run at each start, so that a checkout made earlier gains what a later one needs.
ROLES = """
select 'create role sourced_reader nologin' where to_regrole('sourced_reader') is null \\gexec
select 'create role sourced_owner login' where to_regrole('sourced_owner') is null \\gexec
select 'create role sourced_ask login in role sourced_reader' where to_regrole('sourced_ask') is null \\gexec
\\getenv owner_password OWNER_PASSWORD
\\getenv ask_password ASK_PASSWORD
alter role sourced_owner password :'owner_password';
alter role sourced_ask password :'ask_password';
select 'create database sourced owner sourced_owner'
where not exists (select from pg_database where datname = 'sourced') \\gexec
"""
# pgvector is not a trusted extension, so the owner could not create it.
EXTENSION = "create extension if not exists vector;"


@contextmanager
def local():
    """Holds the local Postgres, started if needed, and yields its port."""
    with shared("postgres", running=_running, start=_start, stop=_stop):
        yield _port_in_use()


def url(role, port):
    """The URL of the service's database for `sourced_ask` or `sourced_owner`."""
    return f"postgres://{role}:{secret(role)}@127.0.0.1:{port}/{DATABASE}"


def superuser_url(port):
    """For tests, which make databases of their own."""
    return f"postgres://postgres:{secret('postgres')}@127.0.0.1:{port}/postgres"


def _start():
    if not DATA.exists():
        _initialise()
    _drop_stale_pid()
    port = free_port(int(PORT.read_text()) if PORT.exists() else 0)
    options = [f"-c {name}='{value}'" for name, value in SETTINGS.items()]
    arguments = ["start", "-w", "-t", START_S, "-l", LOG, "-o", f"-p {port} {' '.join(options)}"]
    try:
        _pg_ctl(*arguments)
    except Failure:
        last = (LOG.read_text(errors="replace").splitlines() or ["nothing logged"])[-1]
        raise Failure(f"Postgres does not start ({last}): see {LOG}, or rm -r {HOME} to begin anew") from None
    except Stopped:
        wait_for(lambda: _pid() is not None, PID_FILE_S)  # What was just started must be found to be stopped.
        raise
    PORT.write_text(str(port))
    _psql("postgres", ROLES, port)
    _psql(DATABASE, EXTENSION, port)


def _stop():
    # Also one that is still recovering, and so does not answer yet.
    if _is_postgres(_pid()):
        _pg_ctl("stop", "-w", "-m", "fast")


def _initialise():
    say("creating the local database")
    HOME.mkdir(parents=True, exist_ok=True)
    aside = HOME / "new"
    shutil.rmtree(aside, ignore_errors=True)
    password = HOME / "password"
    with open(os.open(password, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(secret("postgres"))
    if os.geteuid() == 0:
        user = _unprivileged()
        for path in (HOME, password):
            os.chown(path, user.pw_uid, user.pw_gid)
    output(
        [
            *_as_unprivileged(),
            postgres_bin() / "initdb",
            f"--pgdata={aside}",
            "--username=postgres",
            f"--pwfile={password}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            # The same order and case rules on every machine.
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
        ],
        cwd="/",
    )
    password.unlink()
    aside.rename(DATA)


def _running():
    """Whether our Postgres answers. One that was killed or is still recovering is told apart by its pid file."""
    if not _is_postgres(_pid()):
        return False
    return wait_for(lambda: _pid() is None or _answers(), START_S) and _pid() is not None


def _is_postgres(pid):
    return pid is not None and name_of(pid) == "postgres"


def _answers():
    port = _port_in_use()
    ready = [postgres_bin() / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
    return port is not None and subprocess.run(ready).returncode == 0


def _pid():
    return _pid_file_line(0)


def _port_in_use():
    return _pid_file_line(3)


def _pid_file_line(number):
    try:
        return int((DATA / "postmaster.pid").read_text().splitlines()[number])
    except (FileNotFoundError, IndexError, ValueError):
        return None


def _drop_stale_pid():
    """A pid file left by a kill whose number now belongs to another program would stop Postgres from starting."""
    pid = _pid()
    if pid is not None and not _is_postgres(pid):
        (DATA / "postmaster.pid").unlink()


def _pg_ctl(action, *arguments):
    output([*_as_unprivileged(), postgres_bin() / "pg_ctl", action, "-D", DATA, *map(str, arguments)], cwd="/")


def _psql(database, statements, port):
    # Passwords go through the environment: arguments are for everyone on the machine to see.
    env = os.environ | {
        "PGPASSWORD": secret("postgres"),
        "OWNER_PASSWORD": secret("sourced_owner"),
        "ASK_PASSWORD": secret("sourced_ask"),
    }
    where = ["-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "-d", database]
    output([postgres_bin() / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", *where], env=env, text=statements)


def _unprivileged():
    return pwd.getpwnam("nobody")


def _as_unprivileged():
    """What to put before a program that must not run as root."""
    if os.geteuid() != 0:
        return []
    user = _unprivileged()
    drop = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    reach = [*drop, "test", "-x", str(postgres_bin() / "postgres")]
    if subprocess.run(reach, cwd="/").returncode != 0:
        # The checkout lies under a folder closed to others, such as root's home: rather than open that folder, the
        # database gets past permissions as its starter does.
        # The secure bit makes access(2), which initdb asks for its sister programs, heed the capability too.
        drop += ["--securebits=+no_setuid_fixup", "--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
    return drop
