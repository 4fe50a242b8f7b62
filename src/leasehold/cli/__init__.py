"""The command line. Commands are async functions that return records; one renderer prints them.

Data goes to standard output and talk to standard error. Needs the extra `cli`.
"""

from __future__ import annotations

import sys
from typing import NoReturn

EXTRA = frozenset({"cyclopts", "rich"})


def main() -> NoReturn:
    """Run the command in `sys.argv` and exit with its code (`leasehold.cli.shell.exit_codes`)."""
    try:
        from leasehold.cli.shell.launcher import run  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in EXTRA:
            raise
        sys.stderr.write("error: the command line is not installed; run: pip install 'leasehold[cli]'\n")
        sys.exit(2)
    sys.exit(run(sys.argv[1:]))
