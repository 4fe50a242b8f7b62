"""Stopping with the parent process, even if it is killed: our standard input then ends."""

from __future__ import annotations

import os
import signal

from leasehold.concurrency.bare_threads import start_bare

STANDARD_INPUT = 0


def stop_with_parent() -> None:
    """Send this process SIGTERM, which drains it, when standard input ends."""
    start_bare(_wait_for_end)


def _wait_for_end() -> None:
    # Not sys.stdin: a thread that blocks there holds a lock that the interpreter wants when it ends.
    while os.read(STANDARD_INPUT, 4_096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
