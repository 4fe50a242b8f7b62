"""What moving in tells: sources, plans, and what was moved."""

from __future__ import annotations

from datetime import datetime

import msgspec


class SourceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A queue that moves in.

    Attributes:
        defined_at, defined_by: when its mapping was given, and by which login.
        sealed_at: since when its own workers claim nothing; None: they may.
        jobs, schedules: how many of its rows became one.
        cancelled: how many of its jobs were ended there without a job here.
    """

    source: str
    defined_at: datetime
    defined_by: str
    sealed_at: datetime | None
    jobs: int
    schedules: int
    cancelled: int


class PlanLine(msgspec.Struct, frozen=True, kw_only=True):
    """Some rows of a table of a source.

    Attributes:
        state: as it stands there; None for rows that have moved or are refused.
        means: pending rows move. running, completed, failed and cancelled ones stay. moved, cancelled and disabled rows without a
            state have been dealt with. refused: pending rows that cannot move. None: the mapping does not know the state.
        row_count: how many rows. refused: how many of them cannot move; complaint: why, of one of them.
    """

    source_table: str
    state: str | None
    means: str | None
    row_count: int
    refused: int
    complaint: str | None


class MovedJobs(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a table's pending jobs: they were moved here, or cancelled there."""

    source_table: str
    moved: int
    cancelled: int


class MovedSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a schedule: moved (or would be), disabled, or refused for what `complaint` says."""

    source_table: str
    row_id: str
    name: str
    outcome: str
    complaint: str | None


class RefilledJobs(msgspec.Struct, frozen=True, kw_only=True):
    """How many jobs of a kind were made (or would be) for what a source's mapping names.

    Attributes:
        refused: for how many rows none was, since it would be refused; complaint: why, of the first of them.
    """

    kind: str
    made: int
    refused: int = 0
    complaint: str | None = None


class MoveReport(msgspec.Struct, frozen=True, kw_only=True):
    """A source that moved in as a whole.

    Attributes:
        refused: the rows that stay there because they cannot become jobs.
    """

    schedules: list[MovedSchedule]
    jobs: list[MovedJobs]
    refilled: list[RefilledJobs]
    refused: list[PlanLine]
