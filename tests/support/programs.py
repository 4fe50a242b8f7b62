"""Programs of the system that some tests need."""

from __future__ import annotations

import os
import shutil

import pytest

PLACES = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])


def needed(program: str, package: str) -> str:
    """The path of a program; it need not run as a service.

    Where it is missing the test is skipped, and says how to get it; `.ci/run` installs all of them and sets
    LEASEHOLD_TEST_ALL, with which that is a failure.
    """
    found = shutil.which(program, path=PLACES)
    if found is None:
        complaint = f"needs {program}: apt-get install {package}"
        if os.environ.get("LEASEHOLD_TEST_ALL"):
            pytest.fail(complaint)
        pytest.skip(complaint)
    return found
