"""Workers that are killed while they declare their kinds, and two versions of one app."""

from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.processes import StartProcess
from tests.support.sql_kinds import declare
from tests.support.waiting import eventually

WORKER = ["run", "worker", "--app", "tests.support.fault_app:app"]


async def test_a_worker_killed_in_the_middle_of_it_leaves_the_catalogue_whole(
    database: Database, start_process: StartProcess
) -> None:
    await declare(database, {"kind": "quick", "queue": "before"}, version="1")
    async with database.transaction() as transaction:
        # The worker has written its versions by then, and waits for the row of the catalogue.
        await transaction.execute("select from leasehold.kinds where kind = 'quick' for update")
        worker = start_process([*WORKER, "--app-version", "2"], {"LEASEHOLD_DATABASE_URL": database.dsn})

        async def waits() -> bool:
            rows = await database.fetch(
                "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%declare_kinds%'"
                " and datname = current_database()"
            )
            return bool(rows)

        await eventually(waits)
        worker.kill()
    # Postgres may finish the statement of a client that is gone; then all of it is there. One statement sees one moment.
    [[kinds, versions, newest]] = await database.fetch(
        "select (select count(*) from leasehold.kinds), (select count(*) from leasehold.kind_versions), "
        "(select app_version from leasehold.kinds where kind = 'quick')"
    )
    assert ((kinds, versions) == (1, 1)) == (newest == "1")
    again = start_process([*WORKER, "--app-version", "2"], {"LEASEHOLD_DATABASE_URL": database.dsn})
    await again.until_line("running worker")

    async def is_whole() -> bool:
        declared = await database.call("list_kinds")
        return len(declared) > 5 and {row["app_version"] for row in declared} == {"2"}

    await eventually(is_whole)


@pytest.mark.parametrize("second", ["2"])
async def test_a_worker_of_another_version_is_counted_where_it_disagrees(
    database: Database, start_process: StartProcess, second: str
) -> None:
    start_process([*WORKER, "--app-version", "1"], {"LEASEHOLD_DATABASE_URL": database.dsn})

    async def is_declared() -> bool:
        return bool(await database.call("list_kinds", "quick"))

    await eventually(is_declared)
    await declare(database, {"kind": "quick", "queue": "elsewhere"}, app="tests.support.fault_app:app", version=second)
    [row] = await database.call("list_kinds", "quick")
    assert (row["queue"], row["app_version"]) == ("elsewhere", second)
    assert '"workers": 1' in row["conflicts"]
