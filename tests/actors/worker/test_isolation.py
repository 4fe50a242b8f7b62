"""A worker on a database whose transactions are stricter than read committed."""

from __future__ import annotations

import pytest

from leasehold import App, Job
from leasehold.database import Database, open_database
from tests.support.sql_limits import limit
from tests.support.working import a_scheduler, without_renewals, working

ISOLATIONS = ("serializable", "repeatable read")


async def isolate(database: Database, isolation: str) -> None:
    """Transactions of new sessions are so strict."""
    await database.execute(
        "do $$ begin execute format($text$alter database %I set default_transaction_isolation = "
        f"'{isolation}'$text$, current_database()); end $$"
    )


@pytest.mark.parametrize("isolation", ISOLATIONS)
async def test_it_claims_under_limits_and_its_handlers_transactions_are_as_the_database_says(
    fresh_database_url: str, isolation: str
) -> None:
    app = App()

    @app.kind("look", mode="atomic")
    async def look(job: Job) -> str:  # pyright: ignore[reportUnusedFunction]
        [row] = await job.transaction.fetch("select current_setting('transaction_isolation')")
        return row[0]

    async with open_database(fresh_database_url) as database:
        await isolate(database, isolation)
        await limit(database, 1)
    async with working(fresh_database_url, app) as running:
        record = await running.run("look")
        assert (record.state, record.output) == ("completed", isolation)


@pytest.mark.parametrize("isolation", ISOLATIONS)
async def test_a_completion_of_ours_that_meets_a_serialization_failure_charges_no_attempt(
    fresh_database_url: str, isolation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = App()

    async with open_database(fresh_database_url) as database:
        await isolate(database, isolation)

        @app.kind("books")
        async def books(job: Job) -> int:  # pyright: ignore[reportUnusedFunction]
            async with job.complete() as tx:
                await tx.fetch("select 1")
                if job.attempt == 1:  # as the lease keeper does when a renewal is due
                    renewal = (job.incarnation, [job.id], [job.attempt], [60.0], [1.0])
                    assert await database.call("renew_leases", *renewal) == []
            return job.attempt

        settings = without_renewals(monkeypatch)
        async with working(fresh_database_url, app, beside=(a_scheduler,), **settings) as running:
            record = await running.run("books", max_attempts=1)
            assert (record.state, record.output, record.error) == ("completed", 2, None)
            rows = await running.database.call("get_job_timeline", record.id)
            (told,) = [row["message"] for row in rows if row["event"] == "rescheduled"]
    assert "could not serialize access" in told
