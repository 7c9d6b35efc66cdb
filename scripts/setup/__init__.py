"""What the commands in scripts/ need before they can run, each piece brought in its own module.

Everything lands inside the checkout (`.venv`, `.local/`, `target/`), every piece is idempotent, and nothing here knows
which command asked. Look next at `tools` (what is downloaded), `database` and `counters` (what is started), and
`service` (what is served); `processes` decides who stops what.
"""

import sys

if sys.version_info < (3, 11):
    sys.exit("Sourced needs Python 3.11 or newer, this is %d.%d: apt-get install python3" % sys.version_info[:2])

# Commands are run from a checkout that may be read-only to others; compiled modules would only litter it.
sys.dont_write_bytecode = True
