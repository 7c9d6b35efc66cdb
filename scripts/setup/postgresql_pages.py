"""The PostgreSQL 17 pages, brought to `.local/corpus/postgresql-17`; they are never committed.

On Debian they come from the package postgresql-doc-17, through an apt state of its own: the machine's own source and
keys with another suite, downloaded and unpacked, nothing installed, no root needed, signatures verified by apt.
Elsewhere, or when that fails, the pages the manifest names are fetched from the documentation's own site.
"""

import shlex
import shutil
import tempfile
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

from .checkout import LOCAL, ROOT, Failure, say
from .processes import alone, output, run

MANIFEST = ROOT / "corpus" / "postgresql-17.toml"
PAGES = LOCAL / "corpus" / "postgresql-17"
ORIGIN = "ORIGIN.txt"  # Beside the pages: where they came from.

PACKAGE = "postgresql-doc-17"
SUITE = "trixie"
FETCH_TIMEOUT_S = 30


def ensure():
    """Brings the pages when they are not all there."""
    with alone("pages"):
        if not (PAGES / ORIGIN).exists() or _missing(PAGES):
            _bring()


def _bring():
    with tempfile.TemporaryDirectory(dir=_made(LOCAL / "corpus"), prefix="new-") as folder:
        new = _made(Path(folder) / "pages")
        try:
            origin = _from_debian(new)
        except Failure as failure:
            say(f"not from Debian: {failure}")
            origin = _from_site(new)
        (new / ORIGIN).write_text(origin + "\n")
        shutil.rmtree(PAGES, ignore_errors=True)
        new.rename(PAGES)
    say(f"corpus: {origin}")


def _from_debian(into):
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise Failure(f"{program} is not on this machine")
    source = _debian_source()
    apt = _made(LOCAL / "apt")
    parts = _made(apt / "sources.list.d")
    (parts / f"{SUITE}.sources").write_text(source)
    _made(apt / "lists" / "partial")
    _made(apt / "cache" / "archives" / "partial")
    options = {
        "Dir::Etc::SourceList": "/dev/null",
        "Dir::Etc::SourceParts": parts,
        "Dir::Etc::Preferences": "/dev/null",
        "Dir::Etc::PreferencesParts": "/dev/null",
        "Dir::State::Lists": apt / "lists",
        "Dir::Cache": apt / "cache",
        # apt's own download user may not be able to enter the checkout.
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
        "Acquire::Retries": "2",
    }
    get = ["apt-get", *(f"-o{name}={value}" for name, value in options.items())]
    say(f"fetching {PACKAGE} ({SUITE}) with apt")
    run([*get, "update", "--error-on=any"])
    with tempfile.TemporaryDirectory(dir=apt, prefix="package-") as folder:
        run([*get, "download", PACKAGE], cwd=folder)
        [package] = Path(folder).glob("*.deb")
        version = output(["dpkg-deb", "--field", package, "Version"]).strip()
        output(["dpkg-deb", "--extract", package, folder])
        pages = sorted(Path(folder, "usr/share/doc", PACKAGE, "html").glob("*.html"))
        for page in pages:
            shutil.copyfile(page, into / page.name)
    if missing := _missing(into):
        raise Failure(f"{PACKAGE} {version} lacks {', '.join(missing)}")
    return f"{len(pages)} pages of the Debian package {PACKAGE} {version} ({SUITE})"


def _debian_source():
    """The machine's own Debian source, with the suite exchanged."""
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    if release.get("ID", "").strip('"') != "debian":
        raise Failure("this machine does not run Debian")
    codename = release.get("VERSION_CODENAME", "").strip('"')
    for stanza in _stanzas():
        if (
            "deb" in stanza.get("types", "").split()
            and stanza.get("enabled", "yes").lower() not in ("no", "false")
            and codename in stanza.get("suites", "").split()
            and "main" in stanza.get("components", "").split()
        ):
            lines = ["Types: deb", f"URIs: {stanza['uris']}", f"Suites: {SUITE}", "Components: main"]
            if "signed-by" in stanza:
                lines.append(f"Signed-By:{stanza['signed-by']}")
            return "\n".join(lines) + "\n"
    raise Failure(f"apt has no source for {codename} main")


def _stanzas():
    """apt's sources in both their forms, as dictionaries with lower-case field names."""
    etc = Path("/etc/apt")
    for path in sorted(etc.glob("sources.list.d/*.sources")):
        for block in path.read_text().split("\n\n"):
            stanza, field = {}, None
            for line in block.splitlines():
                if line.startswith("#"):
                    continue
                if line[:1].isspace() and field:
                    stanza[field] += "\n" + line  # A continued value, such as a key written out.
                elif ":" in line:
                    name, value = line.split(":", 1)
                    field = name.strip().lower()
                    stanza[field] = value
            yield {name: value if name == "signed-by" else value.strip() for name, value in stanza.items()}
    for path in [etc / "sources.list", *sorted(etc.glob("sources.list.d/*.list"))]:
        for line in path.read_text().splitlines() if path.exists() else []:
            line = line.split("#")[0].strip()
            kind, _, rest = line.partition(" ")
            options = {}
            if rest.lstrip().startswith("["):
                inside, _, rest = rest.lstrip()[1:].partition("]")
                options = dict(word.split("=", 1) for word in shlex.split(inside) if "=" in word)
            words = rest.split()
            if kind == "deb" and len(words) >= 3:
                stanza = {"types": kind, "uris": words[0], "suites": words[1], "components": " ".join(words[2:])}
                if "signed-by" in options:
                    stanza["signed-by"] = " " + options["signed-by"].replace(",", " ")
                yield stanza


def _from_site(into):
    base = _manifest()["base_url"]
    names = _listed()
    for number, name in enumerate(names, 1):
        say(f"fetching {base}{name} ({number} of {len(names)})")
        try:
            with urllib.request.urlopen(base + name, timeout=FETCH_TIMEOUT_S) as response:
                (into / name).write_bytes(response.read())
        except (urllib.error.URLError, TimeoutError) as error:
            raise Failure(f"cannot fetch {base}{name} ({error}): is this machine online?") from None
    return f"{len(names)} pages from {base}"


def _missing(folder):
    return [name for name in _listed() if not (folder / name).is_file()]


def _listed():
    return _manifest()["pages"]


def _manifest():
    return tomllib.loads(MANIFEST.read_text(encoding="utf-8"))


def _made(folder):
    folder.mkdir(parents=True, exist_ok=True)
    return folder
