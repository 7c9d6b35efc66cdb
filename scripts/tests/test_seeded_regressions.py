"""Faults put into the service on purpose, each of which the evaluation must see: or a floor guards nothing.

What can be set is set. The rest is a line changed in a copy of the checkout, which is built by itself from what the
original has compiled.
"""

import os
import shutil
import subprocess
import unittest
from contextlib import contextmanager

from setup import build, liar, processes, scripted
from setup.checkout import LOCAL, ROOT, TARGET

COPY = LOCAL / "seeded"
# Its own: cargo takes one checkout's crates for another's, and would leave a seeded fault in the checkout's programs.
BUILT = COPY / "target"

KEYWORD_ARM_OFF = (
    "shared/adapters/src/postgres/retrieve.rs",
    "future::join3(vector, keyword(client, search), terms(client, search))",
    "future::join3(vector, async { let _ = keyword; Ok(Vec::new()) }, terms(client, search))",
)
VERIFIER_ACCEPTS_ANYTHING = (
    "shared/domain/src/citation.rs",
    "let span = quote::find(folded, &claim.quote)?;",
    "let span = quote::find(folded, &claim.quote).unwrap_or(0..text.chars().count());",
)
LINT_OFF = (
    "shared/domain/src/gate.rs",
    "supported(&sentence, &self.passages)?;",
    "let _ = supported(&sentence, &self.passages);",
)


class SeededRegressions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if "DATABASE_URL" not in os.environ:
            raise AssertionError("DATABASE_URL is not set: scripts/test starts what this needs")
        copy_checkout()
        copy_compiled()

    def test_the_reranker_is_off(self):
        self.assert_seen(evaluated(RERANKER="none"), "retrieval.reranked.mrr")

    def test_everything_is_relevant(self):
        self.assert_seen(evaluated(RELEVANCE_THRESHOLD="0"), "refusal.right")

    def test_the_keyword_arm_is_off(self):
        with seeded(*KEYWORD_ARM_OFF):
            self.assert_seen(evaluated(), "retrieval.keyword.recall@20")

    def test_the_verifier_accepts_anything(self):
        with seeded(*VERIFIER_ACCEPTS_ANYTHING), lying() as settings:
            self.assert_seen(evaluated(**settings), "citation.word_for_word")

    def test_the_lint_is_off(self):
        with seeded(*LINT_OFF), lying() as settings:
            self.assert_seen(evaluated(**settings), "citation.recall")

    def test_a_model_that_lies_gets_nothing_through(self):
        with lying() as settings:
            code, said = evaluated(**settings)
        self.assertEqual(code, 0, said)
        for reason in ("no_citation", "quote_not_found", "unsupported_number"):
            self.assertRegex(said, rf"removed\.{reason} +\d")

    def assert_seen(self, evaluation, metric):
        code, said = evaluation
        seen = [line for line in said.splitlines() if line.startswith(("below its floor", "against"))]
        print(f"{self.id().rsplit('.', 1)[-1]}:", *seen, sep="\n  ")
        self.assertEqual(code, 1, said)
        self.assertTrue(any(line.startswith(f"below its floor: {metric} ") for line in seen), said)


def copy_checkout():
    """Brings the copy's files up to the checkout's; what is the same keeps its time, and is not compiled again."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]
    for name in names:
        source, copy = ROOT / name, COPY / name
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
    kept = {COPY / name for name in names}
    for path in COPY.rglob("*"):
        if path.is_file() and path not in kept and BUILT not in path.parents:
            path.unlink()


def copy_compiled():
    """Gives the copy what the original has compiled, programs aside, unless it has been built before."""
    if BUILT.exists():
        return
    for part in ("build", ".fingerprint"):
        shutil.copytree(TARGET / "debug" / part, BUILT / "debug" / part, symlinks=True)
    (BUILT / "debug" / "deps").mkdir()
    for compiled in (TARGET / "debug" / "deps").iterdir():
        if compiled.suffix in (".rlib", ".rmeta", ".so", ".d"):
            shutil.copy2(compiled, BUILT / "debug" / "deps")


@contextmanager
def seeded(file, line, fault):
    """Has the fault in the place of the line."""
    path = COPY / file
    text = path.read_text()
    if text.count(line) != 1:
        raise AssertionError(f"{file} has no such line any more: {line}")
    path.write_text(text.replace(line, fault))
    try:
        yield
    finally:
        path.write_text(text)


@contextmanager
def lying():
    """Settings for answers by a model that lies."""
    with scripted.serving(liar.answer) as url:
        yield {"GENERATOR": "openai", "OPENAI_BASE_URL": url, "CHAT_MODEL": liar.MODEL}


def evaluated(**settings):
    """Builds the copy and evaluates it; the exit code and what was said."""
    env = os.environ | {"CARGO_TARGET_DIR": str(BUILT), "CARGO_TERM_QUIET": "true", "LOG_LEVEL": "warn"} | settings
    built = [*build.CARGO, "--workspace", "--bin", "eval"]
    processes.run(built, env=env, cwd=COPY)
    done = subprocess.run([BUILT / "debug" / "eval"], env=env, cwd=COPY, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout + done.stderr


if __name__ == "__main__":
    unittest.main()
