"""Sources: other queues that move in. How their tables are read, and what moving them tells.

A mapping is TOML or JSON; the ready ones lie in `mappings/`.
"""

from __future__ import annotations

import re
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from leasehold.errors import BadInput
from leasehold.validation import refusal

READY = ("celery_beat", "crawl_jobs", "django_tasks_db", "pgqueuer", "procrastinate", "worker_tasks")
"""The names of the ready mappings."""
SCHEMA = re.compile(r"[a-z_][a-z0-9_]*")
NAMES = ("kinds", "queues", "positional")


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


def load_mapping(place: str, schema: str = "public") -> dict[str, Any]:
    """Read a mapping, with `{schema}` in it filled in; its SQL finds names in that schema unless it says otherwise.

    Args:
        place: the name of a ready one, or the path of a .toml or .json file.
        schema: in which the other queue has its tables: lower case letters, digits and _.

    Raises:
        BadInput: there is no such mapping, it cannot be read, or the schema has another character.
    """
    if not SCHEMA.fullmatch(schema):
        raise refusal("schema", "lower case letters, digits and _", schema)
    text = _read(place).replace("{schema}", schema)
    decode = msgspec.json.decode if place.endswith(".json") else msgspec.toml.decode
    try:
        return {"search_path": schema, **decode(text, type=dict[str, Any])}
    except msgspec.DecodeError as error:
        raise BadInput(f"the mapping {place} cannot be read: {error}") from error


def with_names(mapping: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    """The mapping with further kinds, queues and positional args; those given here win.

    Raises:
        BadInput: `names` has something else in it.
    """
    if other := sorted(set(names) - set(NAMES)):
        raise BadInput(f"names have {', '.join(NAMES)}, not {other[0]}")
    return mapping | {each: {**mapping.get(each, {}), **names[each]} for each in names}


def _read(place: str) -> str:
    if place in READY:
        return files("leasehold.moving").joinpath("mappings", f"{place}.toml").read_text("utf-8")
    path = Path(place)
    if path.suffix not in (".toml", ".json"):
        raise BadInput(
            f"there is no mapping {place!r}; ready are {', '.join(READY)}, and a file ends in .toml or .json"
        )
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the mapping {place} cannot be read: {error}") from error
