from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.support.waiting import PATIENCE

SHOW = "from leasehold.concurrency.ending import stop_signals; print(*(each.name for each in stop_signals()))"


@pytest.mark.parametrize(
    ("hang_up", "names"), [(signal.SIG_DFL, "SIGTERM SIGINT SIGHUP"), (signal.SIG_IGN, "SIGTERM SIGINT")]
)
def test_a_closed_terminal_ends_a_process_unless_nohup_started_it(hang_up: signal.Handlers, names: str) -> None:
    script = f"import signal; signal.signal(signal.SIGHUP, signal.Handlers({hang_up.value})); {SHOW}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.split() == names.split()
