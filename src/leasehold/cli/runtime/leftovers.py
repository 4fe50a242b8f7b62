"""Threads that outlive the command: Python would wait for them for ever, without a word."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time

from leasehold.concurrency.bare_threads import start_bare

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 3.0


def wait_no_longer(code: int) -> None:
    """From now on threads that somebody left behind have a few seconds to end; then the process ends without them, with this
    exit code, and its log names them. What is registered with `atexit` is then not called."""
    start_bare(_end_without, code)


def _end_without(code: int) -> None:
    time.sleep(PATIENCE_SECONDS)
    left = [each.name for each in threading.enumerate() if not each.daemon and each is not threading.main_thread()]
    if left:
        log.warning("ending without threads that still run: %s; a handler has started and left them", ", ".join(left))
        sys.stdout.flush()
        os._exit(code)
