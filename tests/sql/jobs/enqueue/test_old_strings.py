"""A session in which a backslash in a string is an escape, as before Postgres 9.1, is answered as any other."""

from __future__ import annotations

import json

from leasehold.database import Database
from tests.support.sql_kinds import declare


async def test_places_patterns_times_and_cron_expressions_are_read_as_everywhere(database: Database) -> None:
    schema = {"type": "object", "properties": {"code": {"type": "string", "pattern": r"^[A-Z]+\.[0-9]{2}$"}}}
    kind = {"kind": "charge", "key": "args.code", "priority": 3, "max_attempts": 5, "args_schema": schema}
    job = {"kind": "charge", "args": {"code": "AB.12"}, "priority": -3, "run_at": "2099-03-28T12:00:00.5+01:00"}
    async with database.reserve("old strings") as connection:
        await connection.execute("set standard_conforming_strings = off")
        assert await declare(connection, kind) == {"charge": "created"}
        await connection.fetch("select leasehold.enqueue_jobs($1::text::jsonb)", json.dumps([job]))
        schedule = json.dumps({"name": "five", "kind": "charge", "cron": "*/5 9-17 * * MON-FRI"})
        await connection.fetch("select leasehold.create_schedule($1::text::jsonb)", schedule)
        [found] = await connection.fetch(
            "select (leasehold.find_schedule(id::text)).id = id as found from leasehold.schedules"
        )
        [row] = await connection.fetch("select key, priority, max_attempts, run_at from leasehold.jobs")
    assert found["found"]
    assert (row["key"], row["priority"], row["max_attempts"]) == ("AB.12", -3, 5)
    assert row["run_at"].isoformat() == "2099-03-28T11:00:00.500000+00:00"
