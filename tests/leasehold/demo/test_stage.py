from __future__ import annotations

import io
import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import trio
from rich.console import Console

from leasehold.demo.stage import Stage, describe
from leasehold.demo.troupe import Player
from tests.leasehold.demo.runs import job, run

ANSI = re.compile(r"\x1b\[[?0-9;]*[A-Za-z]")
HELD: dict[str, Any] = {"state": "running", "finished_at": None}
RUN = run(jobs=[job(2, attempt=3), job(3), job(4, worker_id="worker.2", **HELD), job(5, **HELD)])


@pytest.fixture
async def workers() -> AsyncGenerator[list[Player]]:
    """One that lives, one that was killed, and one that has ended."""
    players = [
        Player(f"worker.{number}", await trio.lowlevel.open_process([command, "300"]), Path("nowhere"))
        for number, command in enumerate(["sleep", "sleep", "true"], start=1)
    ]
    await players[1].kill()
    await players[2].process.wait()
    yield players
    await players[0].kill()


def console(*, is_terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=is_terminal, width=100, no_color=True)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return ANSI.sub("", console.file.getvalue())


def test_without_a_terminal_there_are_plain_lines() -> None:
    target = console(is_terminal=False)
    Stage(target).say("something [bold] " * 20 + "happened")
    [line] = written(target).splitlines()
    assert line.endswith("happened")
    assert " s  something [bold] something" in line


async def test_plain_progress_is_one_line_a_second(workers: list[Player]) -> None:
    target = console(is_terminal=False)
    stage = Stage(target)
    stage.show(RUN, workers)
    stage.show(RUN, workers)
    assert len(written(target).splitlines()) == 1
    assert describe(RUN, workers) == "2/4 files, 1/s, retries 2, taken back 1, 1 of 3 workers alive"


async def test_a_terminal_shows_the_bar_and_each_worker(workers: list[Player]) -> None:
    target = console(is_terminal=True)
    stage = Stage(target)
    stage.show(RUN, workers)
    stage.close()
    shown = written(target)
    assert "2/4 files  1/s  retries 2  taken back 1" in shown
    pids = [worker.process.pid for worker in workers]
    assert f"●  worker.1  pid {pids[0]}     2 jobs done  holds 1" in shown
    assert f"✗  worker.2  pid {pids[1]}     0 jobs done  killed; its leases run out" in shown
    assert f"○  worker.3  pid {pids[2]}     0 jobs done  drained" in shown
