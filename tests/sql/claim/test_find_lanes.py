"""Which lanes a claim looks at, and how many."""

from __future__ import annotations

from collections.abc import Sequence

from leasehold.database import Database
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_limits import limit
from tests.support.sql_waits import open_transaction
from tests.support.sql_worker import SqlWorker, ids

Lane = tuple[str, str, bool]


async def lanes(
    database: Database,
    queues: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    dry: Sequence[tuple[str, str]] = (),
) -> list[Lane]:
    [row] = await database.call("find_lanes", queues, kinds, [q for q, _ in dry], [k for _, k in dry])
    found = zip(row["lane_queues"] or [], row["lane_kinds"] or [], row["lane_classes"] or [], strict=True)
    return [(queue, kind, bool(lane_class)) for queue, kind, lane_class in found]


async def many(database: Database, queues: int, kinds: int) -> None:
    await database.fetch(
        "insert into leasehold.jobs (created_at, run_at, kind, queue, args, state)"
        " select now(), now(), 'k' || k, 'q' || q, '{}', 'pending'"
        "  from generate_series(1, $1::int) q, generate_series(1, $2::int) k",
        queues,
        kinds,
    )


async def test_every_queue_kind_and_sort_of_job_is_a_lane_in_order(database: Database) -> None:
    await enqueue_many(
        database,
        [
            *({"kind": k, "queue": q} for q in "ba" for k in ("y", "x", "x")),
            {"kind": "x", "queue": "a", "key_group": "g"},
        ],
    )
    every = [("a", "x", False), ("a", "x", True), ("a", "y", False), ("b", "x", False), ("b", "y", False)]
    assert await lanes(database) == every
    assert await lanes(database, dry=[("a", "x"), ("b", "y")]) == [("a", "y", False), ("b", "x", False)]


async def test_those_served_are_found_among_all(database: Database) -> None:
    for queues in [None, ["q2"], ["q3", "q1", "nobody"], ["nobody"], ["q", "q33", "zz"]]:
        for kinds in [None, ["k2"], ["k5", "k1", "nobody"], ["a", "k33"]]:
            await many(database, 5, 5)
            expected = [
                (f"q{q}", f"k{k}", False)
                for q in range(1, 6)
                for k in range(1, 6)
                if (queues is None or f"q{q}" in queues) and (kinds is None or f"k{k}" in kinds)
            ]
            assert await lanes(database, queues, kinds) == expected


async def test_of_thousands_of_lanes_some_are_looked_at_and_in_time_all(database: Database) -> None:
    await many(database, 60, 10)
    seen: set[Lane] = set()
    while len(seen) < 600:
        found = await lanes(database)
        assert len(set(found)) == len(found) <= 2 * 129
        seen.update(found)


async def test_paused_queues_have_no_lanes(database: Database) -> None:
    await many(database, 3, 1)
    await database.call("pause_queue", "q2")
    assert await lanes(database) == [("q1", "k1", False), ("q3", "k1", False)]


async def test_claims_from_thousands_of_queues_do_with_few_locks(database: Database, worker: SqlWorker) -> None:
    await many(database, 3000, 1)
    async with open_transaction(database, "claimer") as claimer:
        # The first 128 lanes, and those behind a place chosen by chance: fewer than 200 where that is near the end.
        assert 128 < len(await SqlWorker(claimer, "claimer").claim(200)) <= 200
        [(held,)] = await database.fetch(
            "select count(*) from pg_locks where locktype = 'advisory'"
            " and database = (select oid from pg_database where datname = current_database())"
        )
        assert held <= 16
        assert 0 < len(await worker.claim(200)) <= 200


async def test_all_jobs_of_thousands_of_queues_are_claimed_in_the_end(database: Database, worker: SqlWorker) -> None:
    await many(database, 1000, 1)
    claimed: list[int] = []
    while batch := await worker.claim(100):
        claimed += ids(batch)
    assert len(claimed) == len(set(claimed)) == 1000


async def test_a_limit_set_in_another_transaction_is_waited_for_by_nobody(
    database: Database, worker: SqlWorker
) -> None:
    await many(database, 40, 1)
    async with open_transaction(database, "operator") as operator:
        await limit(operator, 5, queue="q7")
        claimed = await worker.claim(40)
    assert {row["queue"] for row in claimed} == {f"q{n}" for n in range(1, 41)} - {"q7"}
