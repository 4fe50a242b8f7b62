from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.sql_chains import complete_all, enqueue_blocked, make_circle
from tests.support.sql_jobs import empty, enqueue, enqueue_many
from tests.support.sql_reasons import because, facts, reasons
from tests.support.sql_worker import SqlWorker


async def test_an_open_chain_with_the_job_that_it_stands_at(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, "part")
    await enqueue_blocked(database, [1])
    row = await because(database, 2, "blocked")
    assert row["explanation"] == "it waits for chain 1 (slot 1), whose job 1 is pending"
    await worker.continue_with(await worker.claim(kinds=["part"]), [{"next": {"kind": "more"}}])
    row = await because(database, 2, "blocked")
    assert row["explanation"] == "it waits for chain 1 (slot 1), whose job 3 is pending"
    assert await facts(database, 2, "blocked") == {
        "chain_id": 1,
        "slot": 1,
        "job_id": 3,
        "state": "pending",
        "is_open": True,
        "since": None,
        "open_blockers": 1,
        "is_circle": False,
    }


async def test_chains_that_wait_for_each_other(database: Database, worker: SqlWorker) -> None:
    await make_circle(database, worker, 3)
    await enqueue(database, "bystander")
    for job_id, next_id in ((1, 2), (2, 3), (3, 1)):
        row = await because(database, job_id, "blocked")
        assert row["explanation"] == (
            f"it waits for chain {next_id} (slot 1), whose job {next_id} is blocked and waits for this one in turn, "
            "maybe by way of others: none will go on until one of them is cancelled or completed from outside"
        )
        assert (await facts(database, job_id, "blocked"))["is_circle"] is True
    await enqueue_blocked(database, [1])
    assert (await facts(database, 5, "blocked"))["is_circle"] is False
    await database.call("complete_chain", 3, '"enough"')
    assert await complete_all(worker, "c2") == [2]
    assert await complete_all(worker, "c1") == [1]


async def test_a_chain_that_failed_with_the_error_and_what_to_do(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for end in ["failed", "was cancelled"]:
        await empty(database)
        with subtests.test(end=end):
            await enqueue(database, "part")
            await enqueue_blocked(database, [1])
            if end == "failed":
                await worker.fail(await worker.claim(kinds=["part"]), discard=[True])
            else:
                await database.call("cancel_job", 1, "boom")
            text = (await because(database, 2, "blocked"))["explanation"]
            assert text.startswith(f"it waits for chain 1 (slot 1), which {end} at ")
            assert text.endswith(": boom); retry that job, or complete the chain from outside")


async def test_a_chain_that_is_gone(database: Database) -> None:
    await enqueue(database, "part")
    await enqueue_blocked(database, [1])
    await database.execute("delete from leasehold.jobs where id = 1")
    assert "is gone and can never complete" in (await because(database, 2, "blocked"))["explanation"]


async def test_what_will_not_complete_by_itself_comes_first_and_ten_are_named(
    database: Database, worker: SqlWorker
) -> None:
    ids = await enqueue_many(database, [{"kind": "part"}] * 15)
    job_id = await enqueue_blocked(database, ids)
    await database.call("cancel_job", 12)
    rows = await database.call("explain_job", job_id)
    assert [row["reason"] for row in rows] == ["blocked"] * 10 + ["unserved"]
    assert (await facts(database, job_id, "blocked"))["chain_id"] == 12
    assert (await facts(database, job_id, "blocked"))["open_blockers"] == 15


async def test_closed_blockers_are_not_named(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, "part")
    await enqueue(database, "other")
    await enqueue_blocked(database, [1, 2])
    await complete_all(worker, "part")
    assert (await facts(database, 3, "blocked"))["chain_id"] == 2
    assert await reasons(database, 3) == ["blocked", "unserved"]


async def test_a_chain_that_completed_unseen(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, "part")
    await complete_all(worker, "part")
    await enqueue(database)
    await database.execute(
        "update leasehold.jobs set state = 'blocked' where id = 2;"
        "insert into leasehold.job_blockers (job_id, slot, chain_id) values (2, 1, 1)"
    )
    assert "completed at" in (await because(database, 2, "stranded"))["explanation"]


async def test_a_blocked_job_without_any_edge_is_stranded(database: Database) -> None:
    await enqueue(database)
    await database.execute("update leasehold.jobs set state = 'blocked'")
    assert (await reasons(database, 1))[0] == "stranded"
