from __future__ import annotations

import pytest
import trio

from leasehold.database import Database
from leasehold.database.border import listen
from tests.support.sql_jobs import empty, enqueue, enqueue_many, states
from tests.support.sql_waits import freeze, frozen, open_transaction
from tests.support.sql_worker import SqlWorker, ids
from tests.support.waiting import PATIENCE

SOON = {"kind": "echo", "delay": 60}


async def test_only_jobs_whose_time_has_come(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await enqueue_many(connection, [{"kind": "a", "delay": n} for n in (10, 20, 30)])
        await freeze(connection, "2026-03-01 12:00:20Z")
        assert await connection.call_value("make_jobs_due") == 2
        assert await connection.call_value("make_jobs_due") == 0
    assert await states(database) == {1: "pending", 2: "pending", 3: "scheduled"}


async def test_the_earliest_first_and_no_more_than_the_batch(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await enqueue_many(connection, [{"kind": "a", "delay": n} for n in (30, 10, 20)])
        await freeze(connection, "2026-03-01 13:00Z")
        assert await connection.call_value("make_jobs_due", 2) == 2
    assert await states(database) == {1: "scheduled", 2: "pending", 3: "pending"}


async def test_of_a_free_key_the_best_becomes_pending_and_the_others_wait(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await enqueue_many(connection, [{**SOON, "key": "k", "priority": p} for p in (1, 3, 2)])
        await freeze(connection, "2026-03-01 13:00Z")
        assert await connection.call_value("make_jobs_due") == 3
    assert await states(database) == {1: "waiting", 2: "pending", 3: "waiting"}


async def test_behind_a_holder_or_a_pending_job_all_of_a_key_wait(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await enqueue_many(connection, [{**SOON, "key": key} for key in ("held", "open", "free")])
        await enqueue(connection, key="held")
        await SqlWorker(connection).claim()
        await enqueue(connection, key="open")
        await freeze(connection, "2026-03-01 13:00Z")
        await connection.call("make_jobs_due")
    assert await states(database) == {1: "waiting", 2: "waiting", 3: "pending", 4: "claimed", 5: "pending"}


async def test_idle_workers_are_woken_unless_nobody_wants_it(database: Database, subtests: pytest.Subtests) -> None:
    for notify in [True, False]:
        await empty(database)
        with subtests.test(notify=notify):
            worker = SqlWorker(database)
            await worker.register()
            await enqueue_many(database, [{**SOON, "queue": "x"}, {**SOON, "queue": "y", "key": "k"}])
            await database.execute("update leasehold.workers set idle = true")
            async with listen(database, "leasehold") as listening, database.reserve("later") as later:
                await database.execute("update leasehold.jobs set run_at = now() - interval '1 s'")
                await later.call("make_jobs_due", 10, notify)
                await listening.notify("leasehold", "end", PATIENCE)
                with trio.fail_after(PATIENCE):
                    heard = {await listening.payloads.receive() for _ in range(3 if notify else 1)}
            assert heard == ({"wake:x", "wake:y", "end"} if notify else {"end"})


async def test_a_job_that_somebody_has_locked_is_left_and_nobody_waits_for_it(database: Database) -> None:
    await enqueue_many(database, [SOON, SOON])
    await database.execute("update leasehold.jobs set run_at = now() - interval '1 s'")
    async with open_transaction(database, "other") as other:
        await other.call("cancel_job", 1)
        with trio.fail_after(PATIENCE):
            assert await database.call_value("make_jobs_due") == 1
    assert await states(database) == {1: "scheduled", 2: "pending"}


async def test_a_job_whose_key_somebody_settles_is_left_and_nobody_waits_for_it(database: Database) -> None:
    await enqueue_many(database, [{**SOON, "key": "k"}, {**SOON, "key": "l"}, SOON])
    await database.execute("update leasehold.jobs set run_at = now() - interval '1 s'")
    async with open_transaction(database, "other") as other:
        await other.fetch("select pg_advisory_xact_lock(leasehold.key_lock('k'))")
        with trio.fail_after(PATIENCE):
            assert await database.call_value("make_jobs_due") == 2
    assert await states(database) == {1: "scheduled", 2: "pending", 3: "pending"}
    assert await database.call_value("make_jobs_due") == 1


async def test_many_jobs_of_a_key_that_somebody_settles_hide_none_behind_them(
    database: Database, worker: SqlWorker
) -> None:
    """All but one join the line of the key; that one brings the next call back to it."""
    await enqueue_many(database, [{**SOON, "key": "k"} for _ in range(1100)] + [SOON] * 3)
    await database.execute("update leasehold.jobs set run_at = now() - interval '1 h' + make_interval(secs => id)")
    async with open_transaction(database, "other") as other:
        await other.fetch("select pg_advisory_xact_lock(leasehold.key_lock('k'))")
        with trio.fail_after(PATIENCE):
            assert await database.call_value("make_jobs_due") == 999
            assert await database.call_value("make_jobs_due") == 103
            assert await database.call_value("make_jobs_due") == 0
        assert sorted(ids(await worker.claim(10))) == [1101, 1102, 1103]
    assert list((await states(database)).values()).count("scheduled") == 1
    assert await database.call_value("make_jobs_due") == 1
    assert ids(await worker.claim(10)) == [1]


async def test_many_keys_that_somebody_settles_hide_none_behind_them(database: Database) -> None:
    await enqueue_many(database, [{**SOON, "key": f"k{n}"} for n in range(20)] + [SOON] * 2)
    await database.execute("update leasehold.jobs set run_at = now() - interval '1 h'")
    async with open_transaction(database, "other") as other:
        await other.fetch("select pg_advisory_xact_lock(leasehold.key_lock('k' || n)) from generate_series(0, 19) n")
        with trio.fail_after(PATIENCE):
            assert await database.call_value("make_jobs_due", 5) == 2


async def test_a_herd_of_different_keys_does_not_fill_the_lock_table(database: Database) -> None:
    await enqueue_many(database, [{**SOON, "key": f"k{n}"} for n in range(3000)] + [SOON] * 500)
    await database.execute("update leasehold.jobs set run_at = now() - interval '1 s'")
    async with open_transaction(database, "counting") as connection:
        assert await connection.call_value("make_jobs_due", 10_000) == 1500
        locks = await connection.fetch(
            "select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid() "
            "and database = (select oid from pg_database where datname = current_database())"
        )
        assert locks[0][0] <= 1000
        await connection.execute("commit")
    made = 1500
    while more := await database.call_value("make_jobs_due", 10_000):
        assert isinstance(more, int)
        made += more
    assert made == 3500
    assert set((await states(database)).values()) == {"pending"}


async def test_a_claim_finds_its_jobs_while_a_herd_comes_due(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{**SOON, "key": f"k{n}"} for n in range(1500)])
    await database.execute("update leasehold.jobs set run_at = now() - interval '1 s'")
    claimed = [job_id for _ in range(10) for job_id in ids(await worker.claim(200))]
    assert sorted(claimed) == list(range(1, 1501))
