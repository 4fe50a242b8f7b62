"""The command line. Commands are async functions that return records; each names its view, and one renderer prints them.

Results go to standard output, everything else to standard error. Needs the extra `cli`. `shell` starts a command and knows
none by import; the commands lie in `commands`, `top` and `up` and use `runtime` and `views`. Start in
`shell/launcher.py`.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

from leasehold.cli.runtime.interruption import Interruption, wait_no_longer

EXTRA = frozenset({"cyclopts", "rich"})
STANDARD_ERROR = 2


def open_closed_streams() -> None:
    """Lead the standard streams that were closed before the start to nowhere (`leasehold … 2>&-`).

    Python has None for them, and the next file or connection would get their number: what a program of ours, or one that it
    starts, writes there would go into it.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= STANDARD_ERROR:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def give_up_text() -> None:
    """Forget what standard output and standard error did not take, such as those of a terminal that was closed: the interpreter
    would try again at its end, and turn any exit code into 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except ValueError:  # somebody has closed it
            continue
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def main() -> NoReturn:
    """Run the command in `sys.argv` and exit with its code (`leasehold.cli.runtime.exit_codes`)."""
    open_closed_streams()
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
    give_up_text()
    sys.exit(code)
