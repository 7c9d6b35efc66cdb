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
    if not manifest.is_file():
        known = ", ".join(sorted(path.stem for path in MANIFESTS.glob("*.toml")))
        raise Failure(f"there is no manifest {manifest}: CORPUS takes {known} or a manifest's path")
    return manifest.resolve()


def name(manifest):
    """The corpus's name, by which the service knows it."""
    try:
        given = tomllib.loads(manifest.read_text(encoding="utf-8"))["name"]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, OSError) as error:
        raise Failure(f"{manifest} is not a manifest ({error}): see corpus/handbook.toml for one") from None
    if not isinstance(given, str) or not re.fullmatch(r"[a-z0-9-]{1,64}", given):
        raise Failure(f"{manifest} names its corpus {given!r}: a name is made of a to z, 0 to 9 and -, at most 64")
    return given


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
