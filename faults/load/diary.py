"""What a worker process writes down of its handlers. A line is written at once and whole, so that SIGKILL costs none."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias
from uuid import UUID

import msgspec

from faults.history.records import Ran

FOLDER = "FAULTS_DIARY"
CLOCK_AHEAD = "FAULTS_CLOCK_AHEAD"  # seconds by which the wall clock of the process is wrong
real_time = time.time

Began: TypeAlias = tuple[int, int, str, float]


class Diary:
    """Appends to the file of this process; without a folder it writes nothing."""

    def __init__(self, file: int | None) -> None:
        self._file = file
        self._encoder = msgspec.json.Encoder()

    @classmethod
    def of_process(cls) -> Diary:
        """In the folder that the environment names."""
        folder = os.environ.get(FOLDER)
        if not folder:
            return cls(None)
        path = Path(folder) / f"{os.getpid()}.jsonl"
        return cls(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644))

    def begin(self, job: int, attempt: int, incarnation: UUID) -> Began:
        """A handler begins."""
        began = (job, attempt, str(incarnation), real_time())
        self._write(["b", *began])
        return began

    def end(self, began: Began) -> None:
        """It has ended, however it did."""
        self._write(["e", *began[:3], real_time()])

    def _write(self, line: list[object]) -> None:
        if self._file is not None:
            os.write(self._file, self._encoder.encode(line) + b"\n")


def shift_clock() -> None:
    """Make the wall clock of this process wrong, where the environment says so."""
    ahead = float(os.environ.get(CLOCK_AHEAD) or 0)
    if ahead:
        time.time = lambda: real_time() + ahead


def read_diaries(folder: Path) -> Iterator[Ran]:
    """All handlers of all processes."""
    for path in sorted(folder.glob("*.jsonl")):
        pid = int(path.stem)
        begun: dict[tuple[int, int, str], float] = {}
        for line in path.read_bytes().splitlines():
            what, job, attempt, incarnation, at = msgspec.json.decode(line)
            token = (job, attempt, incarnation)
            if what == "b":
                begun[token] = at
            else:
                yield Ran(pid, *token, begun.pop(token), at)
        for token, at in begun.items():
            yield Ran(pid, *token, at, None)
