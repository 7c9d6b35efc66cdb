"""The environment our programs run with: the caller's, below it `.env`, below that what this checkout provides.

ENV_FILE names another file than `.env`. Setting DATABASE_URL uses that database in place of the local one; setting
USAGE_TABLE, or AWS_ENDPOINT_URL_DYNAMODB, uses that DynamoDB in place of the emulator. Tests take neither, nor `.env`:
they touch only what is local.
"""

import os
import re
from contextlib import ExitStack, contextmanager

from . import counters, database
from .checkout import ROOT, Failure
from .secrets import secret
from .tools import MODEL

DEFAULT_PORT = 9000
# Absolute, for programs are started in different folders and all mean this one.
RESULTS = ROOT / "eval" / "results"
# A test run takes no setting of the service from its caller.
SETTINGS = re.compile(
    r"(DATABASE|OPENAI|COHERE|EMBEDDING|CHAT|RERANK|JUDGE|AWS)_\w+|EMBEDDER|RERANKER|GENERATOR|CORPUS|RELEVANCE_THRESHOLD"
    r"|PRICES_FILE|EVAL_RESULTS|VISITOR_DAILY_LIMIT|GLOBAL_DAILY_LIMIT|(BATCH_)?DAILY_BUDGET_USD|USAGE_TABLE|HASH_SECRET|MODE|ALLOWED_ORIGIN"
    r"|TRUSTED_HOPS|RECORD_DAYS|MODEL_DIR|LOG_LEVEL|PORT|PUBLIC_URL|ENV_FILE|\w+_SECRET_ARN"
)


def given():
    """What the caller set: the environment above `.env`. Empty counts as unset, as it does in the programs."""
    merged = _dot_env() | {name: value for name, value in os.environ.items() if value.strip()}
    env = {name: value for name, value in merged.items() if value.strip()}
    if "DATABASE_DIRECT_URL" in env and "DATABASE_URL" not in env:
        raise Failure("DATABASE_DIRECT_URL is set, but DATABASE_URL is not: set both, or neither")
    return env


def of_tests():
    """What a test run takes over: the environment without any setting of the service, and no `.env`."""
    env = {name: value for name, value in os.environ.items() if not SETTINGS.fullmatch(name)}
    return env | {"ENV_FILE": os.devnull}


@contextmanager
def complete(env):
    """Adds to an environment what it lacks to run the service, starting the local database and DynamoDB as needed."""
    with ExitStack() as held:
        env = held.enter_context(with_database(env))
        env.setdefault("MODEL_DIR", str(MODEL))
        env.setdefault("HASH_SECRET", secret("hash"))
        env.setdefault("EVAL_RESULTS", str(RESULTS))
        yield held.enter_context(with_counters(env))


@contextmanager
def with_counters(env):
    """Adds to an environment the local DynamoDB, started as needed, where it names none."""
    if "AWS_ENDPOINT_URL_DYNAMODB" in env or "USAGE_TABLE" in env:
        yield dict(env)
        return
    with counters.local() as port:
        # The emulator takes any key; a real one has no business there.
        local = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_REGION": "us-east-1"}
        local["AWS_ENDPOINT_URL_DYNAMODB"] = f"http://127.0.0.1:{port}"
        if env.get("EVAL_RESULTS", "").startswith("s3://"):
            # A bucket needs the real one; for an emulator on this machine programs take placeholders of their own.
            yield env | {"AWS_ENDPOINT_URL_DYNAMODB": local["AWS_ENDPOINT_URL_DYNAMODB"]}
            return
        yet = {name: value for name, value in env.items() if name not in ("AWS_SESSION_TOKEN", "AWS_PROFILE")}
        yield yet | local


@contextmanager
def with_database(env):
    """Adds to an environment the local database, started as needed, where it names none."""
    if "DATABASE_URL" in env:
        yield dict(env)
        return
    with database.local() as port:
        yield env | {
            "DATABASE_URL": database.url("sourced_ask", port),
            "DATABASE_DIRECT_URL": database.url("sourced_owner", port),
        }


def port(env):
    """`PORT`: where the service is served locally."""
    value = env.get("PORT", str(DEFAULT_PORT))
    if not value.isdecimal() or not 0 < int(value) < 65536:
        raise Failure(f"PORT is {value!r}: it must be a port from 1 to 65535")
    return int(value)


def _dot_env():
    path = ROOT / (os.environ.get("ENV_FILE") or ".env")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        lines = []
    except OSError as error:
        raise Failure(f"cannot read {path} ({error.strerror})") from None
    except UnicodeDecodeError:
        raise Failure(f"{path} is not UTF-8") from None
    pairs = {}
    for number, line in enumerate(lines, 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        found = re.fullmatch(r"(?:export\s+)?(\w+)\s*=\s*(.*)", line)
        if found is None:
            raise Failure(f".env line {number} is not understood: it must hold lines of NAME=value")
        name, value = found.groups()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        pairs[name] = value
    return pairs
