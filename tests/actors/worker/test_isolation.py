"""A worker on a database whose transactions are stricter than read committed."""

from __future__ import annotations

import pytest

from leasehold import App, Job
from leasehold.database import open_database
from tests.support.sql_limits import limit
from tests.support.working import working


@pytest.mark.parametrize("isolation", ["serializable", "repeatable read"])
async def test_it_claims_under_limits_and_its_handlers_transactions_are_as_the_database_says(
    fresh_database_url: str, isolation: str
) -> None:
    app = App()

    @app.kind("look", mode="atomic")
    async def look(job: Job) -> str:  # pyright: ignore[reportUnusedFunction]
        [row] = await job.transaction.fetch("select current_setting('transaction_isolation')")
        return row[0]

    async with open_database(fresh_database_url) as database:
        await database.execute(
            "do $$ begin execute format($text$alter database %I set default_transaction_isolation = "
            f"'{isolation}'$text$, current_database()); end $$"
        )
        await limit(database, 1)
    async with working(fresh_database_url, app) as running:
        record = await running.run("look")
        assert (record.state, record.output) == ("completed", isolation)
