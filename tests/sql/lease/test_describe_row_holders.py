from __future__ import annotations

import re

from leasehold.database import Database
from tests.support.sql_holders import pid_of, row_held
from tests.support.sql_jobs import enqueue
from tests.support.sql_worker import SqlWorker


async def test_a_session_is_described_with_all_that_finds_it_and_without_its_statement(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given()
    async with row_held(database, worker, claimed[0]) as holder:
        text = await database.call_value("describe_row_holders", 1)
        expected = (
            rf'session {await pid_of(holder)} \(application "leasehold holder", host \S+, role \S+\) '
            r"holds its row since [-\d: ]+\+00, "
            r"idle in transaction since [-\d: ]+\+00"
        )
        assert re.fullmatch(expected, str(text)), text


async def test_nobody_is_nobody(database: Database) -> None:
    await enqueue(database)
    assert await database.call_value("describe_row_holders", 1) is None
    assert await database.call_value("describe_row_holders", 99) is None
