from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, LeaseholdError
from tests.support.sql_chains import edges
from tests.support.sql_jobs import empty, enqueue, job, states
from tests.support.sql_waits import frozen, rolled_back


async def test_a_kind_is_all_that_a_job_needs(database: Database) -> None:
    row = await job(database, await enqueue(database, "echo"))
    assert (row["kind"], row["queue"], row["state"], row["args"]) == ("echo", "default", "pending", "{}")
    assert (row["priority"], row["attempt"], row["max_attempts"], row["key"]) == (0, 0, 20, None)


async def test_every_field_is_kept(database: Database) -> None:
    job_id = await enqueue(
        database,
        "resize",
        args='{"width": 3}',
        queue="images",
        priority=-7,
        key="picture 9",
        max_attempts=2,
        metadata='{"shop": "x"}',
    )
    row = await job(database, job_id)
    assert (row["kind"], row["queue"], row["priority"], row["key"]) == ("resize", "images", -7, "picture 9")
    assert (row["args"], row["metadata"], row["max_attempts"]) == ('{"width": 3}', '{"shop": "x"}', 2)


async def test_group_time_limits_blockers_and_trace_are_kept(database: Database) -> None:
    await enqueue(database)
    rows = await database.fetch(
        "select leasehold.enqueue_job('a', key_group => 'shop 7', timeout => '90 s', deadline => '2999-01-01Z',"
        " blockers => '{1}', traceparent => '00-ab-cd-01')"
    )
    row = await job(database, rows[0][0])
    assert (row["state"], row["key_group"], row["timeout"], row["traceparent"]) == (
        "blocked",
        "shop 7",
        90,
        "00-ab-cd-01",
    )
    assert row["deadline"] == datetime(2999, 1, 1, tzinfo=UTC)
    assert (row["chain_id"], row["chain_position"], row["succeeded_by"], row["crashes"]) == (2, 0, None, 0)
    assert await edges(database, 2) == [(1, False, None)]


async def test_a_plain_job_has_none_of_these(database: Database) -> None:
    await enqueue(database, blockers=[])
    columns = "chain_id, chain_position, key_group, timeout, deadline, traceparent, crashes"
    (row,) = await database.fetch(f"select {columns} from leasehold.jobs")
    assert set(row) == {None}


async def test_ids_go_up(database: Database) -> None:
    assert [await enqueue(database) for _ in range(3)] == [1, 2, 3]


async def test_the_job_exists_when_the_callers_transaction_commits_and_not_otherwise(database: Database) -> None:
    async with database.transaction() as transaction:
        kept = await enqueue(transaction)
    async with rolled_back(database) as transaction:
        await enqueue(transaction)
    assert await states(database) == {kept: "pending"}


async def test_a_delay_makes_it_scheduled_for_that_time_by_the_clock_of_the_database(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        row = await job(connection, await enqueue(connection, delay=timedelta(minutes=90)))
    assert row["state"] == "scheduled"
    assert row["created_at"] == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert row["run_at"] == datetime(2026, 3, 1, 13, 30, tzinfo=UTC)


async def test_a_run_at_in_the_future_makes_it_scheduled(database: Database) -> None:
    when = datetime(2999, 1, 1, tzinfo=UTC)
    row = await job(database, await enqueue(database, run_at=when))
    assert (row["state"], row["run_at"]) == ("scheduled", when)


async def test_no_delay_makes_it_claimable_now(database: Database, subtests: pytest.Subtests) -> None:
    for delay in [timedelta(0), None]:
        await empty(database)
        with subtests.test(delay=delay):
            row = await job(database, await enqueue(database, delay=delay))
            assert (row["state"], row["run_at"]) == ("pending", row["created_at"])


async def test_a_run_at_in_the_past_means_now_and_overtakes_nobody(database: Database) -> None:
    row = await job(database, await enqueue(database, run_at=datetime(1999, 1, 1, tzinfo=UTC)))
    assert (row["state"], row["run_at"]) == ("pending", row["created_at"])


async def test_a_key_that_is_open_or_held_makes_it_wait(database: Database) -> None:
    assert [await enqueue(database, key="k"), await enqueue(database, key="k"), await enqueue(database, key="other")]
    assert await states(database) == {1: "pending", 2: "waiting", 3: "pending"}


async def test_a_future_job_of_the_key_does_not_make_it_wait(database: Database) -> None:
    await enqueue(database, key="k", delay=timedelta(days=1))
    await enqueue(database, key="k")
    assert await states(database) == {1: "scheduled", 2: "pending"}


async def test_null_args_and_metadata_mean_none(database: Database) -> None:
    row = await job(database, await enqueue(database, args=None, metadata=None))
    assert (row["args"], row["metadata"]) == ("{}", None)


async def test_ids_have_eight_bytes(database: Database, subtests: pytest.Subtests) -> None:
    for first_id in [2**31 - 1, 2**53 - 1, 2**63 - 2]:
        await empty(database)
        with subtests.test(first_id=first_id):
            await database.fetch("select setval('leasehold.jobs_id_seq', $1)", first_id)
            assert await enqueue(database) == first_id + 1


async def test_when_ids_run_out_the_job_is_refused(database: Database) -> None:
    await database.fetch("select setval('leasehold.jobs_id_seq', $1)", 2**63 - 1)
    with pytest.raises(LeaseholdError, match="reached maximum value"):
        await enqueue(database)
    assert await states(database) == {}


async def test_a_refused_job_says_why_and_takes_nothing(database: Database) -> None:
    with pytest.raises(BadInput, match=r"^kind must have 1 to 200 bytes, not 0 \(nothing was enqueued\)"):
        await enqueue(database, "")
    assert await states(database) == {}
