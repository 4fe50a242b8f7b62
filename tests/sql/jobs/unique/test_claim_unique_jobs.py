"""What is decided, one client after the other; test_unique_races.py has them come at once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, UniqueConflict
from tests.support.sql_jobs import empty, enqueue_many, snapshot, states
from tests.support.sql_unique import enqueue_one, enqueue_unique, go_on
from tests.support.sql_waits import freeze, frozen, rolled_back
from tests.support.sql_worker import SqlWorker

QUEUED = ["pending", "scheduled", "waiting", "blocked"]
UNFINISHED = [*QUEUED, "claimed", "running"]


async def test_a_second_job_with_the_same_kind_and_args_is_the_first_one(database: Database) -> None:
    assert await enqueue_one(database, args={"shop": 7}) == (1, "created")
    assert await enqueue_one(database, args={"shop": 7}, queue="other", priority=3) == (1, "existing")
    assert (await enqueue_one(database, args={"shop": 8}))[1] == "created"
    assert (await enqueue_one(database, kind="b", args={"shop": 7}))[1] == "created"


async def test_chosen_args_are_enough(database: Database) -> None:
    by = {"by": ["kind", "args.shop"]}
    assert await enqueue_one(database, args={"shop": 7, "day": 1}, unique=by) == (1, "created")
    assert await enqueue_one(database, args={"shop": 7, "day": 2}, unique=by) == (1, "existing")
    assert (await enqueue_one(database, args={"shop": 8, "day": 2}, unique=by))[1] == "created"


async def test_a_key_of_its_own_stands_for_the_job_whatever_its_kind(database: Database) -> None:
    assert await enqueue_one(database, unique={"key": "nightly"}) == (1, "created")
    assert await enqueue_one(database, kind="b", args={"x": 1}, unique={"key": "nightly"}) == (1, "existing")
    (row,) = await database.fetch("select unique_key from leasehold.unique_jobs")
    assert row["unique_key"] == "key:nightly"


Fields = dict[str, Any]
SAME: list[tuple[Fields, Fields]] = [
    ({}, {"args": {}}),
    ({}, {"args": None, "queue": "q", "priority": 3, "metadata": {"m": 1}, "key": "k", "delay": 5}),
    ({"args": {"a": 1, "b": 2}}, {"args": {"b": 2, "a": 1}}),
    ({"unique": {"by": ["kind", "args"]}}, {"unique": {"window": 3600, "on_conflict": "extend"}}),
    ({"unique": {"by": ["args", "kind", "args"]}}, {}),
    ({"unique": {"by": ["queue"]}}, {"unique": {"by": ["queue"]}, "queue": "default"}),
    ({"unique": {"by": ["args.x"]}, "args": {"x": 1}}, {"unique": {"by": ["args.x"]}, "args": {"x": 1, "y": 2}}),
]
OTHER: list[tuple[Fields, Fields]] = [
    ({}, {"kind": "b"}),
    ({}, {"args": {"a": 1}}),
    ({"args": {"a": 1}}, {"args": {"a": "1"}}),
    ({"args": {"a": None}}, {"args": {}}),
    ({"unique": {"by": ["kind"]}}, {"unique": {"by": ["kind", "queue"]}}),
    ({"unique": {"by": ["queue"]}}, {"unique": {"by": ["queue"]}, "queue": "other"}),
    ({"unique": {"by": ["key"]}, "key": "k"}, {"unique": {"by": ["key_group"]}, "key_group": "k"}),
    ({"unique": {"by": ["args.x"]}, "args": {"x": 1}}, {"unique": {"by": ["args.y"]}, "args": {"y": 1}}),
    ({"unique": {"by": ["args"]}, "args": {"x": 1}}, {"unique": {"by": ["args.x"]}, "args": {"x": 1}}),
]


async def test_what_by_names_makes_the_key_and_nothing_else(database: Database) -> None:
    for is_same, pairs in ((True, SAME), (False, OTHER)):
        for one, other in pairs:
            await empty(database)
            first, _ = await enqueue_one(database, **{"kind": "a", **one})
            second, _ = await enqueue_one(database, **{"kind": "a", **other})
            assert (second == first) == is_same


async def test_without_roles_everybody_may_change_a_job_that_another_login_made(database: Database) -> None:
    await enqueue_one(database)
    await database.execute("update leasehold.unique_claims set made_by = 'somebody else'")
    assert await enqueue_one(database, unique={"on_conflict": "replace"}) == (1, "replaced")


async def test_a_job_without_unique_asks_nobody_and_keeps_nobody_out(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a"}, {"kind": "a", "unique": None}])
    assert (await enqueue_one(database))[1] == "created"
    await enqueue_many(database, [{"kind": "a"}])
    assert len(await states(database)) == 4


async def test_a_job_keeps_others_out_until_it_has_finished(database: Database, worker: SqlWorker) -> None:
    await enqueue_one(database)
    claimed = await worker.claim()
    assert await enqueue_one(database) == (1, "existing")
    await worker.start(claimed)
    assert await enqueue_one(database) == (1, "existing")
    await worker.complete(claimed)
    assert (await enqueue_one(database))[1] == "created"


async def test_a_finished_job_counts_where_its_state_is_named(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    for end in ["completed", "failed", "cancelled"]:
        await empty(database)
        with subtests.test(end=end):
            await enqueue_one(database)
            claimed = await worker.claim()
            if end == "completed":
                await worker.complete(claimed)
            elif end == "failed":
                await worker.fail(claimed, discard=[True])
            else:
                await database.call("cancel_job", 1)
            assert await enqueue_one(database, unique={"states": [*UNFINISHED, end]}) == (1, "existing")
            assert (await enqueue_one(database, unique={"states": UNFINISHED}))[1] == "created"


async def test_a_job_that_has_started_does_not_count_where_only_queued_ones_do(
    database: Database, worker: SqlWorker
) -> None:
    unique = {"states": QUEUED}
    await enqueue_one(database, unique=unique)
    assert await enqueue_one(database, unique=unique) == (1, "existing")
    await worker.claim()
    second = await enqueue_one(database, unique=unique)
    assert second[1] == "created"
    assert await enqueue_one(database, unique=unique) == (second[0], "existing")


async def test_only_jobs_made_within_the_window_count(database: Database, worker: SqlWorker) -> None:
    unique = {"window": 3600, "states": [*UNFINISHED, "completed"]}
    async with frozen(database, "2026-01-01 00:00:00+00") as connection:
        await enqueue_one(connection, unique=unique)
        await worker.over(connection).complete(await worker.over(connection).claim())
        await freeze(connection, "2026-01-01 00:59:59+00")
        assert await enqueue_one(connection, unique=unique) == (1, "existing")
        await freeze(connection, "2026-01-01 01:00:00+00")
        second = await enqueue_one(connection, unique=unique)
        assert second[1] == "created"
        await freeze(connection, "2026-01-01 01:59:00+00")
        assert await enqueue_one(connection, unique=unique) == (second[0], "existing")


async def test_a_claim_of_a_chain_holds_until_the_whole_chain_is_done(database: Database, worker: SqlWorker) -> None:
    unique = {"scope": "chain"}
    await enqueue_one(database, unique=unique)
    (next_id,) = await go_on(worker, {"next": {"kind": "b"}})
    assert await enqueue_one(database, unique=unique) == (1, "existing")
    await worker.complete(await worker.claim())
    assert (await enqueue_one(database, unique=unique))[1] == "created"
    assert (await states(database))[next_id] == "completed"


async def test_a_claim_of_a_job_ends_with_the_job_though_its_chain_goes_on(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue_one(database)
    await go_on(worker, {"next": {"kind": "b"}})
    assert (await enqueue_one(database))[1] == "created"


async def test_a_loop_starts_its_successor_by_excluding_its_own_chain(database: Database, worker: SqlWorker) -> None:
    await enqueue_one(database, unique={"scope": "chain"})
    await worker.claim()
    assert await enqueue_one(database, unique={"scope": "chain", "exclude": [99]}) == (1, "existing")
    successor = await enqueue_one(database, unique={"scope": "chain", "exclude": [1]})
    assert successor == (successor[0], "created")
    assert await enqueue_one(database, unique={"scope": "chain"}) == (successor[0], "existing")
    assert await enqueue_one(database, unique={"scope": "chain", "exclude": [1]}) == (successor[0], "existing")


async def test_a_completion_makes_the_successor_in_the_same_commit(database: Database, worker: SqlWorker) -> None:
    await enqueue_one(database)
    again: dict[str, object] = {"kind": "a", "unique": {}}
    (successor,) = await go_on(worker, {"jobs": [again]})
    assert await states(database) == {1: "completed", successor: "pending"}


# Conflicts.


async def test_a_conflict_is_refused_where_it_is_to_be_and_names_the_job(database: Database) -> None:
    await enqueue_one(database)
    before = await snapshot(database)
    with pytest.raises(UniqueConflict, match="job 2: job 1 has this unique key") as refused:
        await enqueue_unique(database, {"kind": "b"}, {"kind": "a", "unique": {"on_conflict": "reject"}})
    assert refused.value.job_id == 1
    assert await snapshot(database) == before


async def test_within_one_call_a_conflict_is_refused_by_position(database: Database) -> None:
    job = {"kind": "a", "unique": {"on_conflict": "reject"}}
    with pytest.raises(UniqueConflict, match="job 3: job 1 of the same call has this unique key"):
        await enqueue_unique(database, job, {"kind": "b"}, job)
    assert await states(database) == {}


async def test_within_one_call_the_first_job_of_a_key_is_made(database: Database) -> None:
    answers = await enqueue_unique(
        database,
        {"kind": "a", "unique": {}},
        {"kind": "a", "args": {"n": 1}, "unique": {}},
        {"kind": "a", "unique": {}},
        {"kind": "a"},
        {"kind": "a", "args": {"n": 1}, "unique": {"by": ["args", "kind"]}},
    )
    assert [outcome for _, outcome in answers] == ["created", "created", "existing", "created", "existing"]
    assert (answers[2][0], answers[4][0]) == (answers[0][0], answers[1][0])
    assert sorted(await states(database)) == sorted({job_id for job_id, _ in answers})


async def test_a_job_may_wait_for_one_that_was_there_already(database: Database) -> None:
    await enqueue_one(database)
    answers = await enqueue_unique(database, {"kind": "a", "unique": {}}, {"kind": "b", "blockers": [{"position": 1}]})
    assert answers[0] == (1, "existing")
    edges = await database.fetch("select job_id, chain_id from leasehold.job_blockers")
    assert [tuple(edge) for edge in edges] == [(answers[1][0], 1)]


# Idempotency keys beside unique.


async def test_an_idempotency_key_points_to_the_job_that_was_there(database: Database, worker: SqlWorker) -> None:
    await enqueue_one(database)
    assert await enqueue_one(database, idempotency_key="i") == (1, "existing")
    await worker.complete(await worker.claim())
    assert await enqueue_one(database, idempotency_key="i") == (1, "existing")
    assert (await enqueue_one(database))[1] == "created"


async def test_jobs_that_share_an_idempotency_key_share_the_job_that_was_there(database: Database) -> None:
    await enqueue_one(database)
    job: dict[str, object] = {"kind": "a", "idempotency_key": "i", "unique": {}}
    assert await enqueue_unique(database, job, job, {"kind": "b"}) == [(1, "existing"), (1, "existing"), (4, "created")]


async def test_a_known_idempotency_key_asks_for_no_unique_key(database: Database) -> None:
    (job_id,) = await enqueue_many(database, [{"kind": "b", "idempotency_key": "i"}])
    unique = {"key": "k", "on_conflict": "reject"}
    assert await enqueue_one(database, idempotency_key="i", unique=unique) == (job_id, "existing")
    assert (await enqueue_one(database, unique=unique))[1] == "created"


# The rest.


async def test_a_key_of_a_rolled_back_enqueue_is_free(database: Database) -> None:
    async with rolled_back(database) as transaction:
        await enqueue_one(transaction)
        assert (await enqueue_one(transaction))[1] == "existing"
    assert (await enqueue_one(database))[1] == "created"


async def test_a_job_that_is_not_known_any_more_keeps_nobody_out(database: Database) -> None:
    await enqueue_one(database)
    await database.execute("delete from leasehold.jobs")
    assert (await enqueue_one(database))[1] == "created"


async def test_a_refused_unique_is_named_with_its_job(database: Database) -> None:
    before = await snapshot(database)
    with pytest.raises(BadInput, match=r"job 2: unique\.window must be a number of seconds, not string"):
        await enqueue_unique(database, {"kind": "a"}, {"kind": "a", "unique": {"window": "1h"}})
    assert await snapshot(database) == before


async def test_thousands_at_once(database: Database) -> None:
    jobs = [{"kind": "a", "args": {"n": n % 2000}, "unique": {}} for n in range(4000)]
    answers = await enqueue_unique(database, *jobs)
    assert [outcome for _, outcome in answers] == ["created"] * 2000 + ["existing"] * 2000
    assert [job_id for job_id, _ in answers[2000:]] == [job_id for job_id, _ in answers[:2000]]
    again = await enqueue_unique(database, *jobs)
    assert [job_id for job_id, _ in again] == [job_id for job_id, _ in answers]


async def test_a_job_enqueued_by_enqueue_job_may_be_unique_too(database: Database) -> None:
    for _ in range(2):
        rows = await database.fetch('select leasehold.enqueue_job(\'a\', "unique" => \'{"key": "k"}\')')
        assert rows[0][0] == 1


async def test_times_are_told_in_the_clock_of_the_database(database: Database) -> None:
    async with frozen(database, "2026-01-01 00:00:00+00") as connection:
        await enqueue_one(connection)
    (row,) = await database.fetch("select created_at from leasehold.unique_jobs")
    assert row["created_at"] == datetime(2026, 1, 1, tzinfo=UTC)
