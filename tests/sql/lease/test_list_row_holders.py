from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.sql_holders import HOLDS, pid_of, row_held
from tests.support.sql_jobs import empty
from tests.support.sql_worker import SqlWorker


async def test_the_session_that_holds_a_row_is_named_however_it_holds_it(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for hold in HOLDS:
        await empty(database)
        with subtests.test(hold=hold):
            claimed = await worker.given_all([{"kind": "a"}] * 3)
            assert await database.call("list_row_holders", [1, 2, 3, 4]) == []
            async with row_held(database, worker, claimed[1], HOLDS[hold]) as holder:
                (row,) = await database.call("list_row_holders", [1, 2, 3, 4])
                assert (row["job_id"], row["pid"], row["application_name"]) == (
                    2,
                    await pid_of(holder),
                    "leasehold holder",
                )
                (found,) = await database.call("list_row_holders", [2])
                assert (found["state"], found["since"] <= found["state_since"]) == ("idle in transaction", True)
                await holder.execute("rollback")
                assert await database.call("list_row_holders", [1, 2, 3]) == []


async def test_each_of_several_sessions_is_named(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    hold = HOLDS["lease asserted"]
    async with row_held(database, worker, claimed[0], hold) as one, row_held(database, worker, claimed[0], hold) as two:
        rows = await database.call("list_row_holders", [1])
        assert {row["pid"] for row in rows} == {await pid_of(one), await pid_of(two)}


async def test_a_session_does_not_name_itself(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    async with row_held(database, worker, claimed[0]) as holder:
        assert await holder.call("list_row_holders", [1]) == []
