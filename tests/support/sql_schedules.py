"""Short ways to make schedules and to fire them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from leasehold.database import Caller, Row
from tests.support.sql_jobs import Scripted
from tests.support.sql_waits import freeze

NOON = "2030-01-01 12:00Z"


def definition(name: str = "s", **fields: object) -> str:
    """A definition as JSON; every minute, unless the fields say otherwise."""
    rhythm = {} if {"every", "cron", "at"} & fields.keys() else {"every": 60}
    return json.dumps({"name": name, "kind": "echo", **rhythm, **fields})


async def create(caller: Caller, name: str = "s", **fields: object) -> Row:
    """Call create_schedule."""
    [row] = await caller.call("create_schedule", definition(name, **fields))
    return row


async def create_at(caller: Scripted, now: str, name: str = "s", **fields: object) -> Row:
    """The same, at a time at which the clock of this connection then stands still."""
    await freeze(caller, now)
    return await create(caller, name, **fields)


async def change(caller: Caller, name: str = "s", **fields: object) -> Row:
    """Call update_schedule."""
    [row] = await caller.call("update_schedule", name, json.dumps(fields))
    return row


async def schedule(caller: Caller, name: str = "s") -> Row:
    """The row."""
    [row] = await caller.call("get_schedule", name)
    return row


async def set_plan(caller: Caller, row: Row, next_run_at: str | None, error: str | None = None) -> int:
    """Call plan_schedules for one schedule; returns how many were planned."""
    plan = {"id": row["id"], "revision": row["revision"], "next_run_at": next_run_at, "error": error}
    planned = await caller.call_value("plan_schedules", json.dumps([plan]))
    assert isinstance(planned, int)
    return planned


def fire_of(
    row: Row, next_run_at: str | None, ticks: Sequence[dict[str, Any]] = (), rows: object = None
) -> dict[str, Any]:
    """What fire_schedules is told of a schedule; by default its next tick fires."""
    expected = row["next_run_at"].isoformat()
    return {
        "id": row["id"],
        "revision": row["revision"],
        "expected": expected,
        "next": next_run_at,
        "ticks": list(ticks) or [{"at": expected, "outcome": "fired"}],
        "rows": rows,
    }


async def fire(caller: Caller, *fires: dict[str, Any]) -> list[tuple[int, int, int, int]]:
    """Call fire_schedules; returns (fired, skipped, failed, jobs) of each that did."""
    rows = await caller.call("fire_schedules", json.dumps(fires), "test")
    return [(row["fired"], row["skipped"], row["failed"], row["jobs"]) for row in rows]


async def planned(caller: Scripted, name: str = "s", **fields: object) -> Row:
    """A schedule made at noon, when its first tick is due at once."""
    row = await create_at(caller, NOON, name, **fields)
    await set_plan(caller, row, NOON)
    return await schedule(caller, name)


async def jobs_made(caller: Caller) -> list[Row]:
    """The jobs, in the order in which they were made, args and metadata decoded."""
    return await caller.fetch(
        "select id, kind, queue, priority, key, key_group, args::text, metadata::text, run_at, max_attempts, state "
        "from leasehold.jobs order by id"
    )


async def history(caller: Caller, name: str | None = None) -> list[tuple[str, str, str | None, int]]:
    """(schedule, outcome, reason or error, jobs), oldest first."""
    rows = await caller.call("list_schedule_ticks", name)
    return [(row["schedule"], row["outcome"], row["reason"] or row["error"], row["job_count"]) for row in rows][::-1]
