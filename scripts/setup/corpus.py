"""Which corpus a command works with: `CORPUS` is the name of a manifest in `corpus/`, or the path of one anywhere."""

import re
import tomllib
from pathlib import Path

from . import build, postgresql_pages
from .checkout import ROOT, Failure
from .processes import run

SOME_PAGES_UNREADABLE = 3  # The exit code of an ingest that is done but for pages it names.

MANIFESTS = ROOT / "corpus"
DEFAULT = "postgresql-17"


def chosen(env):
    """The manifest that `CORPUS` chooses. Paths are relative to where the command is run."""
    given = env.get("CORPUS", DEFAULT)
    manifest = Path(given) if given.endswith(".toml") or "/" in given else MANIFESTS / f"{given}.toml"
    try:
        there = manifest.is_file()
    except OSError as error:
        raise Failure(f"cannot read {manifest} ({error.strerror})") from None
    if not there:
        known = ", ".join(sorted(path.stem for path in MANIFESTS.glob("*.toml")))
        raise Failure(f"there is no manifest {manifest}: CORPUS takes {known} or a manifest's path")
    return manifest.resolve()


def name(manifest):
    """The corpus's name, by which the service knows it."""
    try:
        table = tomllib.loads(manifest.read_bytes().decode())
    except OSError as error:
        raise Failure(f"cannot read {manifest} ({error.strerror})") from None
    except ValueError as error:  # It is not UTF-8, or not TOML.
        raise Failure(f"{manifest} is not a manifest ({error}): see corpus/handbook.toml for one") from None
    found = table.get("name")
    if found is None:
        raise Failure(f"{manifest} has no `name`: see corpus/handbook.toml for a manifest")
    # The service's own rule for CORPUS, which is this name.
    if not isinstance(found, str) or not re.fullmatch(r"[a-z0-9-]{1,64}", found):
        raise Failure(f"{manifest}: `name` is {found!r}: it must be 1 to 64 of a to z, 0 to 9 and -, in quotes")
    return found


def ensure_pages(manifest):
    """Brings the documents of a corpus that does not keep them in the repository."""
    if manifest == postgresql_pages.MANIFEST:
        postgresql_pages.ensure()


def ingest(manifest, env):
    """Brings the tables and the corpus up to date. A page that cannot be read is named, and no reason not to serve."""
    run([build.program("ingest"), "migrate"], env=env)
    code = run([build.program("ingest"), manifest], env=env, check=False)
    if code not in (0, SOME_PAGES_UNREADABLE):
        raise Failure(f"the ingest ended with exit code {code} (its output is above)")
