"""The terminal of `leasehold up` is closed: it ends as SIGTERM ends it, and leaves nothing behind."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from leasehold.database.embedded import find_data_folder
from tests.support.folders import short_folder
from tests.support.processes import clean_environment
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.acceptance


def read_until(terminal: int, text: str) -> None:
    seen = b""
    while text.encode() not in seen:
        seen += os.read(terminal, 65_536)


def our_environ(folder: Path) -> dict[str, str]:
    ours = {"LEASEHOLD_DATA_FOLDER": str(folder / "data"), "LEASEHOLD_GATEWAY_PORT": "0", "NO_COLOR": "1"}
    return clean_environment(ours)


def test_a_closed_terminal_ends_all_processes_and_embedded_postgres_in_good_order() -> None:
    with short_folder() as folder:
        ours, theirs = pty.openpty()
        # A session whose terminal this is, so that closing it sends SIGHUP, as a closed window does.
        take = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.executable, sys.argv[1:])"
        command = [sys.executable, "-c", take, sys.executable, "-m", "leasehold", "up"]
        process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env=our_environ(folder),
            start_new_session=True,
        )
        os.close(theirs)
        read_until(ours, "leasehold is up")
        children = psutil.Process(process.pid).children(recursive=True)
        os.close(ours)
        assert process.wait(PATIENCE) == 0
        assert not (find_data_folder(folder / "data") / "data" / "postmaster.pid").exists()
        assert [each for each in children if each.is_running() and each.status() != psutil.STATUS_ZOMBIE] == []
