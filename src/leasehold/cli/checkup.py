"""The doctor's round: every check, in the order in which one depends on another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from leasehold.cli.checks import connection, grants, health, schema, work
from leasehold.cli.checks.verdicts import skipped
from leasehold.cli.results import Check

if TYPE_CHECKING:
    from leasehold.database import Database
    from leasehold.migrations import SchemaState
    from leasehold.settings import Settings


async def check_all(
    database: Database, state: SchemaState, settings: Settings, place: str, data_folder: Path | None
) -> list[Check]:
    """Every check on an open database. `place` says where it is, `data_folder` where it keeps its data if it is ours."""
    of_schema = schema.check_schema(state)
    fits = schema.schema_problem(state) is None
    checks = [
        await connection.check_server(database, place),
        await connection.check_pooler(database, settings),
        of_schema,
        await _inside("drift", fits and state.status == "same", lambda: schema.check_drift(database)),
        await _inside("grants", fits and state.status == "same", lambda: grants.check_grants(database)),
        await _inside("partitions", fits, lambda: schema.check_partitions(database)),
        await _inside("jobs", fits, lambda: work.check_jobs(database)),
        await _inside("workers", fits and not state.differing, lambda: work.check_workers(database, settings)),
        await connection.check_notify(database, settings),
        await connection.check_clock(database),
        await connection.check_connections(database),
        await health.check_durability(database),
        await health.check_autovacuum(database),
        await health.check_horizon(database),
        await health.check_bloat(database),
    ]
    return [*checks, health.check_disk(data_folder)] if data_folder else checks


async def _inside(name: str, fits: bool, check: Callable[[], Awaitable[Check]]) -> Check:
    """A check that needs the schema."""
    return await check() if fits else skipped(name, "not looked at, for the schema does not fit")
