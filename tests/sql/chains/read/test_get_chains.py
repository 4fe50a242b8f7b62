from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_chains import continued, ended
from tests.support.sql_work import measured
from tests.support.sql_worker import SqlWorker


async def test_it_answers_in_the_order_of_the_ids_and_leaves_out_what_is_no_chain(
    database: Database, worker: SqlWorker
) -> None:
    one = await ended(database, worker, "completed")
    two = await ended(database, worker, "cancelled")
    rows = await database.call("get_chains", [two, 99, one])
    assert [(row["chain_id"], row["state"]) for row in rows] == [(two, "cancelled"), (one, "completed")]
    assert await database.call("get_chains", []) == []


async def test_a_chain_of_many_jobs_costs_as_much_as_one_of_few(database: Database, worker: SqlWorker) -> None:
    """A loop that has gone round a thousand times is looked up as quickly as a new one."""
    short = (await continued(database, worker, "a", "a"))[0]
    long = (await continued(database, worker, "b", "b"))[0]
    await database.execute(
        "insert into leasehold.finished_jobs (id, created_at, run_at, finished_at, priority, attempt, spared_attempts,"
        " max_attempts, state, kind, queue, args, chain_id, chain_position, succeeded_by)"
        f" select 100000 + n, now(), now(), now(), 0, 1, 0, 1, 'completed', 'b', 'default', '{{}}', {long}, n, 100001 + n"
        " from generate_series(1, 3000) n; update leasehold.jobs set chain_position = 3001 where kind = 'b'"
    )
    async with database.reserve("measured") as connection:
        pages: list[int] = []
        for chain_id in (
            short,
            short,
            long,
            long,
        ):  # the first time pays for what tests before have left in the indexes
            await connection.execute("begin")
            async with measured(connection) as work:
                await connection.call("get_chains", [chain_id])
            await connection.execute("commit")
            pages.append(work.pages)
    assert pages[3] <= pages[1] + 30, pages
