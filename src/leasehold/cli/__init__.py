"""The command line. Commands are async functions that return records; each names its view, and one renderer prints them.

Results go to standard output, everything else to standard error. Needs the extra `cli`. `shell` starts a command and knows
none by import; the commands lie in `commands`, `checks`, `top` and `up` and use `runtime` and `views`. Start in
`shell/launcher.py`.
"""

from __future__ import annotations

import gc
import sys
from typing import NoReturn

from leasehold.cli.runtime.interruption import Interruption, wait_no_longer

EXTRA = frozenset({"cyclopts", "rich"})


def main() -> NoReturn:
    """Run the command in `sys.argv` and exit with its code (`leasehold.cli.runtime.exit_codes`)."""
    interruption = Interruption()
    interruption.install()
    gc.disable()  # nothing that is imported is garbage, and looking through it takes a quarter of the start and the end
    try:
        from leasehold.cli.shell.launcher import run  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in EXTRA:
            raise
        sys.stderr.write("error: the command line is not installed; run: pip install 'leasehold[cli]'\n")
        sys.exit(2)
    gc.freeze()
    gc.enable()
    code = interruption.exit_code(run(sys.argv[1:], interruption=interruption))
    gc.freeze()
    wait_no_longer(code)
    interruption.uninstall()
    sys.exit(code)
