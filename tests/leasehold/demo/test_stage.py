from __future__ import annotations

import io
import re

from rich.console import Console

from leasehold.demo.observer import RunProgress, WorkerProgress
from leasehold.demo.stage import LiveStage, PlainStage, Scene, WorkerProcess, describe, open_stage

ANSI = re.compile(r"\x1b\[[?0-9;]*[A-Za-z]")
SCENE = Scene(
    progress=RunProgress(
        files=700,
        files_done=120,
        workers={"worker.1": WorkerProgress(4, 60), "worker.2": WorkerProgress(3, 20)},
        attempts_failed=2,
        reaped=1,
    ),
    workers=(
        WorkerProcess("worker.1", 11, "alive"),
        WorkerProcess("worker.2", 12, "killed"),
        WorkerProcess("worker.3", 13, "ended"),
    ),
    files_per_second=98.7,
)


def console(*, is_terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=is_terminal, width=100, no_color=True)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_without_a_terminal_there_are_plain_lines() -> None:
    target = console(is_terminal=False)
    stage = open_stage(target)
    assert isinstance(stage, PlainStage)
    stage.say("something " * 20 + "happened")
    [line] = written(target).splitlines()
    assert line.endswith("happened")
    assert " s  something" in line


def test_plain_progress_is_one_line_a_second() -> None:
    target = console(is_terminal=False)
    stage = open_stage(target)
    stage.show(SCENE)
    stage.show(SCENE)
    assert len(written(target).splitlines()) == 1
    assert describe(SCENE) == "120/700 files, 99/s, 1 of 3 workers alive, retries 2, taken back 1"


def test_a_terminal_shows_the_bar_and_each_worker() -> None:
    target = console(is_terminal=True)
    stage = open_stage(target)
    assert isinstance(stage, LiveStage)
    stage.show(SCENE)
    stage.close()
    shown = ANSI.sub("", written(target))
    assert "120/700 files" in shown
    assert "●  worker.1  pid 11    60 jobs done  holds 4" in shown
    assert "✗  worker.2  pid 12    20 jobs done  killed; its leases run out" in shown
    assert "○  worker.3  pid 13     0 jobs done  drained" in shown
