"""Chromium and its driver, for the tests that open the page: Debian packages, and the only thing installed outside the
checkout, by root and by scripts/test alone.
"""

import os
import shutil

from .checkout import Failure, say
from .processes import run

PACKAGES = ("chromium", "chromium-driver")


def ensure():
    """Installs what is missing if that is allowed, else says how."""
    if shutil.which("chromedriver") and shutil.which("chromium"):
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise Failure(f"the browser tests need Chromium: sudo apt-get install {' '.join(PACKAGES)}")
    say(f"installing {' and '.join(PACKAGES)}")
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    run(["apt-get", "-q", "update"], env=env)
    run(["apt-get", "-q", "install", "-y", "--no-install-recommends", *PACKAGES], env=env)
