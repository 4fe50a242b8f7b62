"""What the audience sees while the demo runs: a live screen on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from leasehold.demo.run import CensusRun, span_of
from leasehold.demo.troupe import Player

PLAIN_PAUSE_SECONDS = 1.0
BAR_WIDTH = 40
MARKS = {"alive": ("●", "green"), "killed": ("✗", "bold red"), "ended": ("○", "dim")}


class Stage:
    """Lines with the seconds in front; on a terminal with a bar and the workers kept below them."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._started = time.monotonic()
        self._next_line = 0.0
        self._live = Live(console=console, auto_refresh=False, transient=True)

    @property
    def seconds(self) -> float:
        """How long it has been open."""
        return time.monotonic() - self._started

    def say(self, text: str) -> None:
        """Something happened."""
        seconds = f"{self.seconds:5.1f} s"
        if self._console.is_terminal:
            self._console.print(grid([Text(seconds, "dim"), Text(text)]))
        else:
            self._console.print(Text(f"{seconds}  {text}"), soft_wrap=True)

    def show(self, run: CensusRun, workers: Sequence[Player]) -> None:
        """How things stand; may be called as often as one likes."""
        if self._console.is_terminal:
            self._live.start()
            bar = ProgressBar(len(run.of_kind("measure")) or 1, len(run.ended("measure")), width=BAR_WIDTH)
            rows = [_worker_row(run, worker) for worker in workers]
            self._live.update(Group("", grid(["", bar, *_progress(run)]), "", grid(*rows)), refresh=True)
        elif self.seconds >= self._next_line:
            self._next_line = self.seconds + PLAIN_PAUSE_SECONDS
            self.say(describe(run, workers))

    def close(self) -> None:
        """Nothing more is to be shown."""
        self._live.stop()


def grid(*rows: Sequence[RenderableType]) -> Table:
    """Columns with two spaces between them."""
    table = Table.grid(padding=(0, 2))
    for row in rows:
        table.add_row(*row)
    return table


def describe(run: CensusRun, workers: Sequence[Player]) -> str:
    """One line."""
    alive = f"{sum(each.is_alive for each in workers)} of {len(workers)} workers alive"
    return ", ".join([*(text.plain for text in _progress(run)), alive])


def _progress(run: CensusRun) -> list[Text]:
    done, taken_back = run.ended("measure"), len(run.taken_back)
    return [
        Text(f"{len(done)}/{len(run.of_kind('measure'))} files", "bold"),
        Text(f"{len(done) / (span_of(done) or 1.0):.0f}/s", "cyan"),
        Text(f"retries {run.retries}", "yellow" if run.retries else "dim"),
        Text(f"taken back {taken_back}", "green" if taken_back else "dim"),
    ]


def _worker_row(run: CensusRun, worker: Player) -> list[RenderableType]:
    mark, style = MARKS[worker.state]
    held = run.held_by(worker.name)
    leases = "killed; its leases run out" if held else "killed; its jobs were taken back"
    says = {"alive": f"holds {held}", "killed": leases, "ended": "drained"}[worker.state]
    done = sum(job.worker_id == worker.name for job in run.completed)
    return [
        "",
        Text(mark, style),
        worker.name,
        Text(f"pid {worker.process.pid}", "dim"),
        f"{done:>4} jobs done",
        Text(says, style if worker.state == "killed" else ""),
    ]
