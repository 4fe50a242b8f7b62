from __future__ import annotations

import pytest
import trio

from leasehold.database import Database
from leasehold.errors import BadInput, WrongState
from tests.support.sql_jobs import empty, enqueue_many
from tests.support.sql_limits import limit, usage
from tests.support.sql_waits import freeze, frozen, open_transaction, until_waiting
from tests.support.sql_worker import SqlWorker, ids

# The claim of a connection with this setting stops between its first look at the limits and its lock.
GATED = """
create or replace function leasehold.queue_lock(queue text) returns bigint language plpgsql volatile as $$
begin
    if current_setting('test.gate', true) = 'on' then
        perform pg_advisory_xact_lock_shared(4711);
    end if;
    return pg_catalog.hashtextextended($1, 4406127381993);
end
$$
"""


async def test_a_limit_is_kept_and_setting_it_again_changes_nothing(database: Database) -> None:
    assert await limit(database, 3, rate=2.5, burst=7)
    assert not await limit(database, 3, rate=2.5, burst=7)
    assert await limit(database, 4, rate=2.5, burst=7)
    row = (await usage(database))[""]
    assert (row["max_running"], row["rate"], row["burst"]) == (4, 2.5, 7)


async def test_the_burst_is_by_default_that_of_one_second(database: Database, subtests: pytest.Subtests) -> None:
    for rate, burst in [(0.1, 1), (1.0, 1), (2.5, 3), (100.0, 100)]:
        await empty(database)
        with subtests.test(rate=rate, burst=burst):
            await limit(database, rate=rate)
            assert (await usage(database))[""]["burst"] == burst


REFUSED: list[tuple[dict[str, object], str]] = [
    ({"queue": ""}, "queue must have 1 to 200 bytes, not 0"),
    ({"queue": None}, "queue is missing"),
    ({"queue": "a,b"}, "queue has a comma"),
    ({"max_running": None}, "a limit needs max_running, a rate, or both"),
    ({"max_running": -1}, "max_running must be 0 or more, not -1"),
    ({"rate": 0.0}, "rate must be from 1e-7"),
    ({"rate": 1e-8}, "rate must be from 1e-7"),
    ({"rate": -1.0}, "rate must be from 1e-7"),
    ({"rate": float("nan")}, "rate must be from 1e-7"),
    ({"rate": float("inf")}, "rate must be from 1e-7"),
    ({"burst": 5}, "a burst needs a rate"),
    ({"rate": 1.0, "burst": 0}, "burst must be 1 or more, not 0"),
    ({"key_group": "x" * 501}, "key_group must have at most 500 bytes, not 501"),
]


async def test_what_is_no_limit_is_refused(database: Database) -> None:
    for fields, complaint in REFUSED:
        with pytest.raises(BadInput, match=complaint):
            await database.call("set_limit", timeout=None, **{"queue": "default", "max_running": 1, **fields})
        assert await usage(database) == {}


async def test_a_higher_limit_is_in_force_at_once(database: Database, worker: SqlWorker) -> None:
    await limit(database, 1)
    await worker.given_all([{"kind": "a"}] * 3)
    await limit(database, 3)
    assert ids(await worker.claim()) == [2, 3]


async def test_it_waits_for_claims_that_have_not_seen_the_limit_so_that_it_counts_them(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 5)
    async with open_transaction(database, "claimer") as claimer:
        held = await SqlWorker(claimer, "claimer").claim(2)
        with pytest.raises(WrongState, match="somebody claims from queue 'default' in a transaction that does not end"):
            await limit(database, 2)
        await claimer.execute("commit")
    assert len(held) == 2
    await limit(database, 2)
    assert await SqlWorker(database).claim() == []


async def test_a_claim_that_looked_before_the_limit_was_set_and_locks_after_it_looks_again(
    fresh_database: Database,
) -> None:
    await fresh_database.execute(GATED)
    await enqueue_many(fresh_database, [{"kind": "a"}] * 5)
    async with fresh_database.reserve("claimer") as claimer, open_transaction(fresh_database, "gate") as gate:
        await gate.fetch("select pg_advisory_xact_lock(4711)")
        await claimer.execute("set test.gate = 'on'")
        got: list[int] = []

        async def claim() -> None:
            got.extend(ids(await SqlWorker(claimer).claim(4)))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(claim)
            await until_waiting(fresh_database, "claimer")
            await limit(fresh_database, 2)
            await gate.execute("commit")
    assert got == [1, 2]


async def test_a_limit_that_never_commits_limits_nobody_and_stalls_no_other_queue(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue_many(database, [{"kind": "a", "queue": q} for q in ("default", "free")])
    async with open_transaction(database, "user") as user:
        await limit(user, 0)
        assert ids(await worker.claim()) == [2]
    assert ids(await worker.claim()) == [1]


async def test_a_new_rate_begins_with_the_tokens_that_there_are(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as reserved:
        await limit(reserved, rate=1.0, burst=10)
        await enqueue_many(reserved, [{"kind": "a"}] * 30)
        assert len(await SqlWorker(reserved).claim(8)) == 8
        await freeze(reserved, "2026-03-01 12:00:01Z")
        await limit(reserved, rate=5.0, burst=20)
        assert (await usage(reserved))[""]["tokens"] == 3
        await freeze(reserved, "2026-03-01 12:00:02Z")
        assert (await usage(reserved))[""]["tokens"] == 8


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
async def test_a_transaction_that_cannot_see_what_is_held_sets_no_limit(isolation: str, database: Database) -> None:
    """It would not count what others claimed since it began."""
    async with database.reserve("strict") as strict:
        await strict.execute(f"begin isolation level {isolation}")
        with pytest.raises(WrongState, match="limits can be set in read committed transactions only"):
            await limit(strict, 2)
        await strict.execute("rollback")
    assert await usage(database) == {}
