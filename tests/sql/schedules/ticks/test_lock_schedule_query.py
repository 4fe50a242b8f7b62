from __future__ import annotations

import pytest

from leasehold.database import Database, ReservedConnection
from leasehold.errors import DatabaseUnavailable
from tests.support.sql_schedules import planned, set_plan
from tests.support.sql_waits import open_transaction


async def lock(connection: ReservedConnection, expected: object, seconds: float = 600.0) -> bool:
    return bool(await connection.call_value("lock_schedule_query", 1, expected, seconds))


async def test_one_runs_the_query_until_its_transaction_ends(database: Database) -> None:
    async with open_transaction(database, "first") as first, open_transaction(database, "second") as second:
        async with database.reserve("clocked") as connection:
            at = (await planned(connection))["next_run_at"]
        assert await lock(first, at)
        assert not await lock(second, at)
        await first.execute("rollback")
        assert await lock(second, at)


async def test_what_was_fired_meanwhile_is_not_run_again(database: Database) -> None:
    async with open_transaction(database, "late") as late, database.reserve("clocked") as connection:
        row = await planned(connection)
        await connection.fetch("update leasehold.schedules set next_run_at = next_run_at + interval '1 minute'")
        assert not await lock(late, row["next_run_at"])
        assert await set_plan(connection, row, None) == 0


async def test_the_transaction_reads_only_and_its_statements_end(database: Database) -> None:
    async with open_transaction(database, "reader") as reader, database.reserve("clocked") as connection:
        at = (await planned(connection))["next_run_at"]
        assert await lock(reader, at)
        assert (await reader.fetch("select current_setting('transaction_read_only')"))[0][0] == "on"
        assert await lock(reader, at, 0.05)
        with pytest.raises(DatabaseUnavailable, match="statement timeout"):
            await reader.fetch("select pg_sleep(10)")
        await reader.execute("rollback")
        assert (await reader.fetch("select current_setting('statement_timeout')"))[0][0] == "0"
