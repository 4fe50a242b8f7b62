"""One program of Postgres, run to its end, or ended sooner by somebody in a hurry."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from leasehold.database.embedded.system_user import SystemUser

LOOK_SECONDS = 0.02

Hurries = Callable[[], bool]


class ProgramEnd(NamedTuple):
    """How a program ended, and what it said on both streams."""

    code: int
    said: str


def never() -> bool:
    """For those who have time."""
    return False


def run_program(
    command: Sequence[str],
    folder: Path,
    user: SystemUser | None,
    end_sooner: Callable[[int, float], object],
    hurries: Hurries,
) -> ProgramEnd:
    """Run it in `folder` and wait for its end.

    `end_sooner` is called again and again as long as it runs and `hurries()`, with its process id and the seconds since then.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {"LC_ALL": "C"}
    # No pipe: the postmaster would inherit it, and we would wait for its end.
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            cwd=folder,  # pg_ctl hands paths to a shell, so it gets relative ones
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            user=user and user.uid,
            group=user and user.gid,
            extra_groups=user and [],
            start_new_session=True,  # else Ctrl-C could end pg_ctl and leave the server that it has just started
        )
        _wait(process, end_sooner, hurries)
        output.seek(0)
        return ProgramEnd(process.returncode, output.read().decode(errors="replace").strip())


def kill_group(process_id: int, _seconds: float) -> None:
    """Ends a program and its children for good; it has put nothing in place yet."""
    with suppress(ProcessLookupError):
        os.killpg(process_id, signal.SIGKILL)


def _wait(process: subprocess.Popen[bytes], end_sooner: Callable[[int, float], object], hurries: Hurries) -> None:
    hurried_at: float | None = None
    while True:
        try:
            process.wait(LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            if hurried_at is None and hurries():
                hurried_at = time.monotonic()
            if hurried_at is not None:
                end_sooner(process.pid, time.monotonic() - hurried_at)
        else:
            return
