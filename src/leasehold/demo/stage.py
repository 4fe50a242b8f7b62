"""What the audience sees while the demo runs: a live screen on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from leasehold.demo.observer import RunProgress, WorkerProgress
from leasehold.demo.troupe import PlayerState

PLAIN_PAUSE_SECONDS = 1.0
BAR_WIDTH = 40
MARKS: Mapping[PlayerState, tuple[str, str]] = {
    "alive": ("●", "green"),
    "killed": ("✗", "bold red"),
    "ended": ("○", "dim"),
}


class WorkerProcess(msgspec.Struct, frozen=True):
    """One worker process."""

    name: str
    pid: int
    state: PlayerState


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """One moment."""

    progress: RunProgress
    workers: tuple[WorkerProcess, ...]
    files_per_second: float

    @property
    def alive(self) -> int:
        return sum(worker.state == "alive" for worker in self.workers)


class Stage(Protocol):
    """Where a demo shows itself. `seconds` is how long it has been open."""

    @property
    def seconds(self) -> float: ...

    def say(self, text: str) -> None:
        """Something happened."""

    def show(self, scene: Scene) -> None:
        """How things stand; may be called as often as one likes."""

    def close(self) -> None:
        """Nothing more is to be shown."""


class PlainStage:
    """Lines with the seconds in front."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._started = time.monotonic()
        self._next_show = 0.0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def say(self, text: str) -> None:
        self._write(f"{self.seconds:5.1f} s  {text}")

    def show(self, scene: Scene) -> None:
        if self.seconds >= self._next_show:
            self._next_show = self.seconds + PLAIN_PAUSE_SECONDS
            self.say(describe(scene))

    def close(self) -> None: ...


class LiveStage:
    """The same lines, with a bar and the workers kept below them."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._started = time.monotonic()
        self._live = Live(console=console, auto_refresh=False, transient=True)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def say(self, text: str) -> None:
        line = Table.grid(padding=(0, 2))
        line.add_row(Text(f"{self.seconds:5.1f} s", "dim"), Text(text))
        self._console.print(line)

    def show(self, scene: Scene) -> None:
        self._live.start()
        self._live.update(draw(scene), refresh=True)

    def close(self) -> None:
        self._live.stop()


def open_stage(console: Console) -> Stage:
    """A live one if the console is a terminal."""
    if console.is_terminal:
        return LiveStage(console)
    return PlainStage(lambda text: console.print(text, soft_wrap=True))


def describe(scene: Scene) -> str:
    """One line."""
    progress = scene.progress
    return (
        f"{progress.files_done}/{progress.files} files, {scene.files_per_second:.0f}/s, "
        f"{scene.alive} of {len(scene.workers)} workers alive, retries {progress.attempts_failed}, "
        f"taken back {progress.reaped}"
    )


def draw(scene: Scene) -> Group:
    """The bar and the workers."""
    progress = scene.progress
    bar = Table.grid(padding=(0, 2))
    bar.add_row(
        "",
        ProgressBar(total=progress.files or 1, completed=progress.files_done, width=BAR_WIDTH),
        Text(f"{progress.files_done}/{progress.files} files", "bold"),
        Text(f"{scene.files_per_second:.0f}/s", "cyan"),
        Text(f"retries {progress.attempts_failed}", "yellow" if progress.attempts_failed else "dim"),
        Text(f"taken back {progress.reaped}", "green" if progress.reaped else "dim"),
    )
    workers = Table.grid(padding=(0, 2))
    for worker in scene.workers:
        workers.add_row(*_worker_row(worker, progress.workers.get(worker.name, WorkerProgress())))
    return Group(Text(), bar, Text(), workers)


def _worker_row(worker: WorkerProcess, work: WorkerProgress) -> list[Text]:
    mark, style = MARKS[worker.state]
    leases = "killed; its leases run out" if work.held else "killed; its jobs were taken back"
    says = {"alive": f"holds {work.held}", "killed": leases, "ended": "drained"}[worker.state]
    return [
        Text(),
        Text(mark, style),
        Text(worker.name),
        Text(f"pid {worker.pid}", "dim"),
        Text(f"{work.completed:>4} jobs done"),
        Text(says, style if worker.state == "killed" else ""),
    ]
