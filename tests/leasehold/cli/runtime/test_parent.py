from __future__ import annotations

import subprocess
import sys

from tests.support.processes import clean_environment
from tests.support.waiting import PATIENCE


def test_an_actor_drains_when_the_process_that_started_it_is_gone(database_url: str) -> None:
    command = [sys.executable, "-m", "leasehold", "run", "worker", "--with-parent", "--log-format", "text"]
    environ = clean_environment({"LEASEHOLD_DATABASE_URL": database_url})
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stderr=pipe, text=True, env=environ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        while "starting worker" not in process.stderr.readline():
            assert process.poll() is None
        process.stdin.close()
        said = process.stderr.read()
        assert process.wait(PATIENCE) == 0
    assert " stopped\n" in said  # "draining" is told beside the work, which may be over first
