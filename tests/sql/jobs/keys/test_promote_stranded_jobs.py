from __future__ import annotations

import trio

from leasehold.database import Database
from tests.support.sql_jobs import enqueue, enqueue_many, states
from tests.support.sql_waits import open_transaction
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE


async def found(database: Database, *args: object) -> int:
    (row,) = await database.call("promote_stranded_jobs", *args)
    return row["found"]


async def test_keys_with_waiting_jobs_behind_nobody_are_found(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a", "key": key} for key in ("held", "held", "open", "open", "s", "s", "t")])
    await database.execute("update leasehold.jobs set state = 'waiting' where key in ('s', 't')")
    await worker.claim(1)
    assert await found(database) == 2
    assert await states(database) == {
        1: "claimed",
        2: "waiting",
        3: "pending",
        4: "waiting",
        5: "pending",
        6: "waiting",
        7: "pending",
    }


async def test_no_more_jobs_are_looked_at_than_asked_for_and_it_goes_on_behind_them(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "key": f"k{n}"} for n in range(5)])
    await database.execute("update leasehold.jobs set state = 'waiting'")
    (row,) = await database.call("promote_stranded_jobs", None, None, 3)
    assert (row["found"], row["last_id"]) == (3, 3)
    (row,) = await database.call("promote_stranded_jobs", row["last_run_at"], row["last_id"], 3)
    assert (row["found"], row["last_run_at"], row["last_id"]) == (2, None, None)


async def test_the_newest_are_looked_at_from_the_end(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "key": f"k{n}"} for n in range(5)])
    await database.execute("update leasehold.jobs set state = 'waiting'")
    (row,) = await database.call("promote_stranded_jobs", None, None, 2, True)
    assert (row["found"], row["last_id"]) == (2, None)
    assert await states(database) == {1: "waiting", 2: "waiting", 3: "waiting", 4: "pending", 5: "pending"}


async def test_jobs_that_wait_for_good_reason_hide_none_behind_them(database: Database, worker: SqlWorker) -> None:
    await worker.given_all([{"kind": "a", "key": f"k{n // 2}"} for n in range(40)], 20)
    await enqueue_many(database, [{"kind": "a", "key": "stranded"}])
    await database.execute("update leasehold.jobs set state = 'waiting' where key = 'stranded'")
    place, promoted = (None, None), 0
    for _ in range(5):
        (row,) = await database.call("promote_stranded_jobs", *place, 5)
        place, promoted = (row["last_run_at"], row["last_id"]), promoted + row["found"]
    assert (place, promoted) == ((None, None), 1)


async def test_thousands_are_promoted_a_thousand_at_a_time(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "key": f"k{n}"} for n in range(2500)])
    await database.execute("update leasehold.jobs set state = 'waiting'")
    assert [await found(database) for _ in range(4)] == [1000, 1000, 500, 0]


async def test_a_key_that_somebody_is_at_is_left_to_them(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "key": key} for key in "kl"])
    await database.execute("update leasehold.jobs set state = 'waiting'")
    async with open_transaction(database, "other") as other:
        await other.fetch("select pg_advisory_xact_lock(leasehold.key_lock('k'))")
        with trio.fail_after(PATIENCE):
            assert await found(database) == 1
    assert await states(database) == {1: "waiting", 2: "pending"}


async def test_an_enqueue_that_saw_a_holder_which_was_gone_at_its_commit_is_mended(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given(key="k")
    async with open_transaction(database, "slow") as slow:
        await enqueue(slow, key="k")
        await worker.complete(claimed)
        await slow.execute("commit")
    assert await states(database) == {1: "completed", 2: "waiting"}
    assert await found(database) == 1
    assert await states(database) == {1: "completed", 2: "pending"}
