"""Secrets of this checkout, generated once and kept in `.local` for its owner's eyes only. None is ever printed."""

import json
import os
import secrets

from .checkout import LOCAL


def secret(name):
    """The secret of that name: the same one every time, made when first asked for."""
    LOCAL.mkdir(exist_ok=True)
    path = LOCAL / "secrets.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    if name not in known:
        known[name] = secrets.token_hex(24)
        aside = path.with_suffix(".new")
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(known, file)
        aside.replace(path)
    return known[name]
