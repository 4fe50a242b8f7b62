"""The browser in which tests and pictures of the dashboard are made."""

from __future__ import annotations

import os
import shutil

MISSING = "this needs Chromium: `apt-get install chromium`, or name it in LEASEHOLD_TEST_CHROMIUM"


def find_chromium() -> str | None:
    """Its path: what LEASEHOLD_TEST_CHROMIUM names, else the system's one without windows, which takes a quarter less CPU."""
    named = os.environ.get("LEASEHOLD_TEST_CHROMIUM")
    return named or shutil.which("chromium-headless-shell") or shutil.which("chromium")
