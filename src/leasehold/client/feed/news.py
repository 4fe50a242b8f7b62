"""What the changes of a feed leave out, because it would be too much for everybody: log lines and progress of the jobs that
somebody looks at, and what becomes of schedules.

It shows the present. What happened while nobody looked is not reported later; a log line is reported at least once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from time import monotonic
from typing import Literal

import msgspec

from leasehold.database import Caller, Row
from leasehold.database.calls import from_row
from leasehold.records.jobs import JobProgress, LogLine

NEW_LINES_FOR = 5.0  # seconds in which a line may commit after one with a greater number
SCHEDULES_SECONDS = 1.0
PAGE = 1000

ScheduleEventName = Literal["schedule_created", "schedule_changed", "schedule_ticked", "schedule_deleted"]


class JobLine(LogLine, frozen=True, kw_only=True):
    """A line of a job's log, and of which job."""

    job_id: int


class Advance(JobProgress, frozen=True, kw_only=True):
    """How far a running job has come, and which."""

    job_id: int


class ScheduleNews(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a schedule. `schedule_ticked`: a tick was dealt with, it ran by hand, or its next tick was planned."""

    event: ScheduleEventName
    schedule: str


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What one look has found, each in its order."""

    lines: tuple[JobLine, ...] = ()
    advances: tuple[Advance, ...] = ()
    schedules: tuple[ScheduleNews, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing."""
        return not (self.lines or self.advances or self.schedules)


class News:
    """Looks for what is new since its last look.

    Args:
        caller: of any kind; one look after the other uses it.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._newest: deque[tuple[float, int]] = deque()
        self._reported: dict[int, float] = {}
        self._watched: frozenset[int] = frozenset()
        self._advances: dict[int, Advance] = {}
        self._marks: Mapping[int, tuple[str, str, str]] | None = None
        self._marked_at = float("-inf")

    async def read(self, job_ids: Collection[int]) -> Found:
        """What is new of these jobs and of the schedules. Of a job that was not asked for last time, all that it logged within
        an hour; of schedules, at the first look, nothing. Raises DatabaseUnavailable."""
        return Found(
            lines=await self._read_lines(frozenset(job_ids)),
            advances=await self._read_advances(job_ids) if job_ids else (),
            schedules=await self._read_schedules(),
        )

    async def _read_lines(self, job_ids: frozenset[int]) -> tuple[JobLine, ...]:
        former, self._watched = self._watched & job_ids, job_ids
        found: list[JobLine] = []
        if former:
            found += await self._read_new_lines(former)
        if job_ids - former:
            rows = await self._caller.call("list_new_logs", list(job_ids - former), 0, PAGE)
            found += lines_of(rows)
            if not former:
                self._newest = deque([(monotonic(), rows[0]["newest_number"])])
        return tuple(found)

    async def _read_new_lines(self, job_ids: frozenset[int]) -> list[JobLine]:
        now = monotonic()
        rows = await self._caller.call("list_new_logs", list(job_ids), self._newest[0][1], PAGE)
        found = lines_of(rows)
        fresh = [line for line in found if line.number not in self._reported]
        self._reported = {number: at for number, at in self._reported.items() if at >= now - 2 * NEW_LINES_FOR}
        self._reported |= {line.number: now for line in found}
        if len(found) == PAGE:
            self._newest = deque([(now, found[-1].number)])
        else:
            self._newest.append((now, rows[0]["newest_number"]))
        while len(self._newest) > 1 and self._newest[1][0] < now - NEW_LINES_FOR:
            self._newest.popleft()
        return fresh

    async def _read_advances(self, job_ids: Collection[int]) -> tuple[Advance, ...]:
        rows = await self._caller.call("list_progress", list(job_ids))
        found = {row["job_id"]: Advance(**dict(row)) for row in rows}
        fresh = tuple(each for job_id, each in found.items() if self._advances.get(job_id) != each)
        self._advances = found
        return fresh

    async def _read_schedules(self) -> tuple[ScheduleNews, ...]:
        """Once a second at most: it reads all of them."""
        if monotonic() < self._marked_at + SCHEDULES_SECONDS:
            return ()
        rows = await self._caller.call("list_schedule_marks")
        self._marked_at = monotonic()
        marks = {row["schedule_id"]: (row["name"], row["definition"], row["runs"]) for row in rows}
        before, self._marks = self._marks, marks
        return () if before is None else tuple(differences(before, marks))


def differences(
    before: Mapping[int, tuple[str, str, str]], now: Mapping[int, tuple[str, str, str]]
) -> Iterable[ScheduleNews]:
    """What became of the schedules, given name, definition and runs of each by its id."""
    for schedule_id, (name, definition, runs) in now.items():
        former = before.get(schedule_id)
        if former is None:
            yield ScheduleNews(event="schedule_created", schedule=name)
        elif former[:2] != (name, definition):
            yield ScheduleNews(event="schedule_changed", schedule=name)
        elif former[2] != runs:
            yield ScheduleNews(event="schedule_ticked", schedule=name)
    for schedule_id in before.keys() - now.keys():
        yield ScheduleNews(event="schedule_deleted", schedule=before[schedule_id][0])


def lines_of(rows: Iterable[Row]) -> list[JobLine]:
    """Rows of list_new_logs."""
    return [from_row(JobLine, row) for row in rows if row["number"] is not None]
