from __future__ import annotations

from leasehold.checks.epochs import check_epochs
from leasehold.database import Database
from tests.support.epochs import begin_epoch, fail_over


async def test_without_a_failover_all_is_well(database: Database) -> None:
    assert (await check_epochs(database)).verdict == "ok"
    await begin_epoch(database)
    assert (await check_epochs(database)).detail == "no failover and no restore within a day"


async def test_jobs_that_workers_held_and_the_database_does_not_know_are_a_problem_and_named(
    database: Database,
) -> None:
    await begin_epoch(database)
    await database.call("enqueue_job", "echo")
    await fail_over(database)
    epoch = await begin_epoch(database)
    check = await check_epochs(database)
    assert (check.verdict, "what was acknowledged last may be lost" in check.detail) == ("advice", True)
    await database.call("report_losses", epoch, [7, 9])
    check = await check_epochs(database)
    assert check.verdict == "problem"
    assert "workers held 2 jobs that it does not know: 7, 9; ids from 2 to 9 at the least were lost" in check.detail


async def test_a_day_later_it_is_no_news(database: Database) -> None:
    await begin_epoch(database)
    await fail_over(database)
    await begin_epoch(database)
    await database.execute("update leasehold.epochs set began_at = began_at - interval '2 days'")
    assert (await check_epochs(database)).verdict == "ok"
