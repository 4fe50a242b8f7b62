"""All checks of `leasehold doctor`, in the order of their dependencies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from leasehold.checks import connection, health, schema, work
from leasehold.checks.verdicts import Check, advise, problem, skipped
from leasehold.database.connections import hurried
from leasehold.database.migrations import read_schema_state
from leasehold.database.migrations.state import schema_problem
from leasehold.errors import BadInput, Conflict, DatabaseUnavailable, LockTimeout, QueryRefused, WrongAddress

if TYPE_CHECKING:
    from leasehold.database import Database
    from leasehold.database.migrations import SchemaState
    from leasehold.settings import Settings

NO_RIGHT = "42501"
WITHIN = 4.0  # seconds for all checks: people and probes wait for the answer
LOCK_SECONDS, LEAST_SECONDS = 0.2, 0.2
TOO_LATE = "57014"


async def check_all(
    database: Database,
    settings: Settings,
    place: str,
    data_folder: Path | None,
    *,
    within: float = WITHIN,
) -> list[Check]:
    """Every check on an open database. `place` says where it is, `data_folder` where it keeps its data if it is ours.

    They have `within` seconds in all. One that waits for a lock or has no time left says so, and the others go on.
    """
    until = monotonic() + within
    read: list[SchemaState] = []

    async def look(name: str, check: Callable[[], Awaitable[Check]], is_possible: bool = True) -> Check:
        if not is_possible:
            return skipped(name, "schema version mismatch" if read else "schema version unknown")
        with hurried(LOCK_SECONDS, max(LEAST_SECONDS, until - monotonic())):
            return await _look(database, name, check)

    found = await look("schema", lambda: _read_schema(database, read))
    fits = [state for state in read if schema_problem(state) is None]
    is_ours = any(state.status == "same" for state in fits)
    works = any(not state.differing for state in fits)
    checks = [
        await look("database", lambda: connection.check_server(database, place)),
        await look("pooler", lambda: connection.check_pooler(database, settings)),
        found,
        await look("drift", lambda: schema.check_drift(database), is_ours),
        await look("partitions", lambda: schema.check_partitions(database, settings.retention_days), bool(fits)),
        await look("jobs", lambda: work.check_jobs(database), works),
        await look("claims", lambda: work.check_claims(database), works),
        await look("workers", lambda: work.check_workers(database, settings), works),
        await look("kinds", lambda: work.check_kinds(database), works),
        await look("upkeep", lambda: work.check_upkeep(database), works),
        await look("epochs", lambda: health.check_epochs(database), works),
        await look("notify", lambda: connection.check_notify(database, settings)),
        await look("clock", lambda: connection.check_clock(database, has_books=works)),
        await look("connections", lambda: connection.check_connections(database)),
        await look("durability", lambda: health.check_durability(database)),
        await look("autovacuum", lambda: health.check_autovacuum(database)),
        await look("locks", lambda: health.check_locks(database)),
        await look("horizon", lambda: health.check_horizon(database)),
        await look("bloat", lambda: health.check_bloat(database)),
    ]
    return [*checks, health.check_disk(data_folder)] if data_folder else checks


async def _read_schema(database: Database, read: list[SchemaState]) -> Check:
    """Check the schema, and add how it stands to `read`: what the other checks need to know first."""
    async with database.transaction() as session:
        read.append(await read_schema_state(session))
    return schema.check_schema(read[0])


async def _look(database: Database, name: str, check: Callable[[], Awaitable[Check]]) -> Check:
    """Run a check that may lack the rights, be refused or get no answer; the others go on."""
    try:
        return await check()
    except WrongAddress:
        raise
    except (QueryRefused, BadInput, Conflict) as error:
        if isinstance(error, QueryRefused) and error.sqlstate == NO_RIGHT:
            return skipped(name, "this role lacks the rights; run it as the owner of the schema")
        return problem(name, f"refused: {error}", "look at what the other checks say, of the database first")
    except DatabaseUnavailable as error:
        if not isinstance(error, LockTimeout) and f"[SQLSTATE {TOO_LATE}]" not in str(error):
            raise
        holders = await database.fetch(health.HOLDERS, health.READERS_WAIT)
    if holders:
        return problem(name, f"no answer, for {holders[0]['holder']}", holders[0]["cure"])
    return advise(name, "no answer in time", "look at long queries and locks in pg_stat_activity, and ask again")
