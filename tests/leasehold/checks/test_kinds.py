from __future__ import annotations

from leasehold.checks.kinds import check_kinds
from leasehold.database import Database
from tests.support.sql_kinds import declare
from tests.support.sql_worker import SqlWorker


async def test_versions_that_disagree_are_named_as_long_as_workers_run_both(database: Database) -> None:
    await declare(database, {"kind": "charge", "queue": "a"}, version="1")
    await declare(database, {"kind": "charge", "queue": "b"}, version="2")
    found = await check_kinds(database)
    assert (found.verdict, found.detail) == ("ok", "1 declared, and the live workers agree")
    await SqlWorker(database).register(kinds=["charge"], app_version="1")
    found = await check_kinds(database)
    assert found.verdict == "advice"
    assert found.detail == "versions disagree: charge (queue: version 1 runs, 2 wins)"
