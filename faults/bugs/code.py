"""Bugs in Python: a copy of the product with one text changed, run by a real worker process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from benchmarks.processes import clean_environment
from benchmarks.server import ROOT
from faults.bugs.scene import Scene

ROOMS = ("src", "actors", "gateway", "notify", "sql")
READY_WITHIN = 60.0
SETTLED = """
select 1 from leasehold.workers w where w.idle and not exists (
    select from pg_stat_activity a
     where a.datname = current_database() and a.pid <> pg_backend_pid() and a.query ~ 'claim_jobs|next_look_in'
       and (a.state <> 'idle' or a.state_change > clock_timestamp() - interval '1 second'))
"""
"""It has found nothing to claim, and has not claimed again for a second: its start is behind it."""
OVER = """
select 1 where not exists (select from leasehold.jobs) or (select count(*) > 1 from public.effects)
"""


class CodeBug(msgspec.Struct, frozen=True):
    """Text of one file that stands there exactly once, and what takes its place; the worker gets a job of this `kind`."""

    name: str
    what: str
    file: str
    find: str
    put: str
    kind: str
    rules: tuple[str, ...]
    patience: float

    def copy_into(self, folder: Path) -> Path:
        """The product with the bug; what to put on the path. Raises ValueError where the text has changed."""
        for room in ROOMS:
            shutil.copytree(ROOT / room, folder / room, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        file = folder / self.file
        text = file.read_text()
        if text.count(self.find) != 1:
            raise ValueError(f"{self.find!r} stands {text.count(self.find)} times in {self.file}, not once")
        file.write_text(text.replace(self.find, self.put))
        return folder / "src"


@contextmanager
def worker_of(source: Path, dsn: str) -> Generator[None]:
    """A worker process of this source, deaf to notifications, with a lease that outlives the scene."""
    process = subprocess.Popen(
        [sys.executable, "-m", "leasehold", "run", "worker", "--app", "faults.load.app:app"],
        env=clean_environment(
            {
                "PYTHONPATH": os.pathsep.join([str(source), str(ROOT)]),
                "PYTHONDONTWRITEBYTECODE": "1",
                "LEASEHOLD_DATABASE_URL": dsn,
                "LEASEHOLD_NOTIFY": "false",
                "LEASEHOLD_POLL_SECONDS": "0.2",
            }
        ),
        cwd=source,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def play_with_worker(scene: Scene, bug: CodeBug, source: Path) -> None:
    """The scene, until its jobs have ended or its patience has."""
    scene.is_real_time = True
    with worker_of(source, scene.dsn):
        if not wait(lambda: bool(scene.stranger.ask(SETTLED)), READY_WITHIN):
            raise TimeoutError(f"the worker was not ready within {READY_WITHIN:g} s")
        scene.enqueue(bug.kind)
        wait(lambda: bool(scene.stranger.ask(OVER)), bug.patience)


def wait(condition: Callable[[], bool], seconds: float) -> bool:
    """Until it holds, so long at the most; returns whether it does."""
    deadline = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds


CODE_BUGS: tuple[CodeBug, ...] = (
    CodeBug(
        "woken and never polling",
        "a worker that finds nothing waits for a notification alone",
        "actors/leases/poll.py",
        "current = min(self._next, longest)",
        "current = 3600.0",
        "plain",
        ("I16",),
        3.0,
    ),
    CodeBug(
        "effects committed before the completion",
        "the block of job.complete() is committed, and the completion follows in a transaction of its own",
        "actors/running/attempt_session.py",
        'made = await self._inner.call_last("complete_job"',
        'await self._inner.execute("commit; begin")\n            made = await self._inner.call_last("complete_job"',
        "pay",
        ("I7",),
        20.0,
    ),
)
