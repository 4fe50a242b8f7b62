"""All checks of `leasehold doctor`, in the order of their dependencies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from leasehold.checks import connection, health, schema, work
from leasehold.checks.verdicts import Check, skipped
from leasehold.errors import QueryRefused

if TYPE_CHECKING:
    from leasehold.checks.verdicts import Examined
    from leasehold.database.migrations import SchemaState
    from leasehold.settings import Settings

NO_RIGHT = "42501"


async def check_all(
    database: Examined, state: SchemaState, settings: Settings, place: str, data_folder: Path | None
) -> list[Check]:
    """Every check on an open database. `place` says where it is, `data_folder` where it keeps its data if it is ours."""
    fits = schema.schema_problem(state) is None
    is_ours = fits and state.status == "same"
    checks = [
        await connection.check_server(database, place),
        await connection.check_pooler(database, settings),
        schema.check_schema(state),
        await _look("drift", lambda: schema.check_drift(database), is_ours),
        await _look("grants", lambda: schema.check_grants(database), is_ours),
        await _look("partitions", lambda: schema.check_partitions(database, settings.retention_days), fits),
        await _look("jobs", lambda: work.check_jobs(database), fits and not state.differing),
        await _look("claims", lambda: work.check_claims(database), fits and not state.differing),
        await _look("workers", lambda: work.check_workers(database, settings), fits and not state.differing),
        await _look("kinds", lambda: work.check_kinds(database), fits and not state.differing),
        await _look("upkeep", lambda: work.check_upkeep(database), fits and not state.differing),
        await _look("epochs", lambda: health.check_epochs(database), fits and not state.differing),
        await connection.check_notify(database, settings),
        await connection.check_clock(database),
        await connection.check_connections(database),
        await health.check_durability(database),
        await health.check_autovacuum(database),
        await health.check_horizon(database),
        await health.check_bloat(database),
    ]
    return [*checks, health.check_disk(data_folder)] if data_folder else checks


async def _look(name: str, check: Callable[[], Awaitable[Check]], fits: bool) -> Check:
    """Run a check that needs the schema and the rights to read it."""
    if not fits:
        return skipped(name, "schema version mismatch")
    try:
        return await check()
    except QueryRefused as error:
        if error.sqlstate != NO_RIGHT:
            raise
        return skipped(name, "this role lacks the rights; run it as the owner of the schema")
