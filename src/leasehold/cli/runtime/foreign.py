"""Somebody else's program on our terminal, such as psql."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType

PASSED_ON = (signal.SIGTERM, signal.SIGHUP)


def run_foreign(command: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run it on our own terminal; Ctrl-C is for it alone. Returns its exit code."""
    process = subprocess.Popen(command, env={**os.environ, **environ})
    with _leaving_signals_to(process):
        code = process.wait()
    return code if code >= 0 else 128 - code


@contextmanager
def _leaving_signals_to(process: subprocess.Popen[bytes]) -> Generator[None]:
    def pass_on(number: int, _frame: FrameType | None) -> None:
        if number in PASSED_ON:
            process.send_signal(number)

    before = {each: signal.signal(each, pass_on) for each in (signal.SIGINT, *PASSED_ON)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
