"""What is kept for long, or waits in large numbers, costs no more than little of it: in pages read, and in entries of the lock
table, whose default size has to do.
"""

from __future__ import annotations

from functools import partial
from itertools import product

from leasehold.database import Database, ReservedConnection
from tests.sql.plans.test_plans import Call, work_of
from tests.support.sql_jobs import pile_up
from tests.support.sql_work import UNDISTURBED
from tests.support.sql_worker import SqlWorker

AGO = "date_trunc('day', clock_timestamp()) - make_interval(days => $1)"
FINISHED = f"""
insert into leasehold.finished_jobs
       (id, created_at, run_at, finished_at, priority, attempt, spared_attempts, max_attempts, state, kind, queue, args)
select nextval('leasehold.jobs_id_seq'), d, d, d + interval '1 s', 0, 1, 0, 20, 'completed', 'k', 'default', '{{}}'
  from generate_series({AGO}, clock_timestamp(), '1 hour') d
"""
MARKS = """
delete from leasehold.id_marks;
insert into leasehold.id_marks
select min(id) - 1, min(finished_at) - interval '2 s' from leasehold.finished_jobs group by finished_at::date;
analyze leasehold.finished_jobs
"""
LOCKS = "select count(*) from pg_locks where pid = pg_backend_pid()"
STRANGERS = """
insert into leasehold.jobs (created_at, run_at, state, kind, queue, args)
select now(), now(), 'pending', 'open', 'other', '{}' from generate_series(1, 10);
with blocked as (
    insert into leasehold.jobs (created_at, run_at, state, kind, queue, args)
    select now(), now() - make_interval(secs => n), 'blocked', 'b', 'default', '{}' from generate_series(1, 20000) n returning id
)
insert into leasehold.job_blockers (job_id, slot, chain_id)
select id, 1, (select min(j.id) from leasehold.jobs j) + id % 10 from blocked;
"""


async def keep(connection: ReservedConnection, days: int) -> list[int]:
    """Jobs that finished in so many days, with the partitions that a janitor would have made; their ids."""
    [row] = await connection.fetch(f"select ({AGO})::text", days)
    await connection.execute(f"set leasehold.frozen_clock = '{row[0]}'")
    while await connection.call_value("ensure_partitions", days, max(days, 1), timeout=60.0):
        pass
    await connection.execute("reset leasehold.frozen_clock")
    await connection.fetch(FINISHED, days)
    await connection.execute(MARKS)
    return [row[0] for row in await connection.fetch("select id from leasehold.finished_jobs order by id")]


async def locks_of(connection: ReservedConnection, call: Call) -> int:
    await connection.execute("begin")
    await call()
    [row] = await connection.fetch(LOCKS)
    await connection.execute("rollback")
    return row[0]


async def test_a_job_of_a_hundred_days_is_found_as_one_of_a_week(fresh_database: Database) -> None:
    functions = ("get_job", "get_chain")
    await fresh_database.execute(UNDISTURBED)
    async with fresh_database.reserve("measured") as connection:
        most: list[dict[str, int]] = []
        for days in (0, 100):
            ids = await keep(connection, days)
            most.append(dict.fromkeys(functions, 0))
            for function, job_id in product(functions, (ids[0], ids[len(ids) // 2], ids[-1])):
                call = partial(connection.call, function, job_id)
                assert len(await call()) == 1
                most[-1][function] = max(most[-1][function], (await work_of(connection, call)).pages)
                assert await locks_of(connection, call) < 120
    few, many = most
    assert all(many[function] <= 2 * few[function] for function in functions)


async def test_a_slice_of_a_sweep_costs_the_same_whatever_waits(fresh_database: Database) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    worker = SqlWorker(database)
    async with database.reserve("measured") as connection:
        await pile_up(connection, 5000, "held", key="k%s")
        await worker.claim(5000, kinds=["held"])
        await pile_up(connection, 5000, "held", key="k%s")
        await connection.execute(STRANGERS)
        for name in ("promote_stranded_jobs", "unblock_stranded_jobs"):
            work = await work_of(connection, partial(connection.call, name, None, None, 100))
            assert work.pages < 20 * 100 + 300, name
            assert work.entries < 10 * 100 + 100, name
