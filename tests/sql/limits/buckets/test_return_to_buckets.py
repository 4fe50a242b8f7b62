from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_limits import enqueue_groups, limit, usage
from tests.support.sql_waits import freeze, open_transaction
from tests.support.sql_worker import SqlWorker, frozen_worker


async def tokens(database: Database) -> dict[str, float]:
    return {group: row["tokens"] for group, row in (await usage(database)).items()}


async def test_jobs_handed_back_unstarted_give_their_tokens_back(database: Database, worker: SqlWorker) -> None:
    await limit(database, rate=1e-6, burst=5)
    await limit(database, group="*", rate=1e-6, burst=3)
    await enqueue_groups(database, "aab")
    held = await worker.claim()
    await worker.release(held[:1])
    found = await tokens(database)
    assert {group: round(level) for group, level in found.items()} == {"": 3, "*": 2}


async def test_a_job_that_was_snoozed_or_failed_has_started_and_gives_nothing_back(
    database: Database, worker: SqlWorker
) -> None:
    await limit(database, rate=1e-6, burst=5)
    held = await worker.given_all([{"kind": "a"}] * 3)
    await worker.reschedule(held[:1], [60.0])
    await worker.fail(held[1:2])
    await worker.complete(held[2:])
    assert round((await tokens(database))[""]) == 2


async def test_a_job_that_has_begun_gives_nothing_back_when_it_is_handed_back(
    database: Database, worker: SqlWorker
) -> None:
    """Each rolling deploy would let more start than the rate allows."""
    await limit(database, rate=1e-6, burst=5)
    begun, fresh = await worker.given_all([{"kind": "a"}] * 2)
    await database.call("start_jobs", worker.incarnation, [begun["job_id"]], [begun["attempt"]])
    await worker.release([begun, fresh])
    assert round((await tokens(database))[""]) == 4


async def test_a_bucket_never_gets_fuller_than_full(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await limit(connection, rate=1.0, burst=3)
        await enqueue_many(connection, [{"kind": "a"}] * 3)
        await freeze(connection, "2026-03-01 12:00:01Z")
        held = await worker.claim()
        await freeze(connection, "2026-03-01 13:00Z")
        await worker.release(held)
        assert (await usage(connection))[""]["tokens"] == 3
        assert len(await worker.claim()) == 3


async def test_what_has_been_filled_in_again_since_is_not_given_back(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await limit(connection, rate=1.0, burst=3)
        long_ago = await worker.given_all([{"kind": "a"}] * 9)
        await freeze(connection, "2026-03-01 13:00Z")
        lately = await worker.claim(2)
        await worker.release(long_ago)
        assert (await usage(connection))[""]["tokens"] == 1
        await worker.release(lately)
        assert (await usage(connection))[""]["tokens"] == 3


async def test_what_was_claimed_before_the_limit_spent_no_token_and_gives_none_back(
    database: Database, worker: SqlWorker
) -> None:
    before = await worker.given_all([{"kind": "a"}] * 6, 2)
    await limit(database, rate=1e-6, burst=3)
    await worker.claim(2)
    await worker.release(before)
    assert round((await tokens(database))[""]) == 1


async def test_while_somebody_claims_from_the_queue_tokens_are_lost_rather_than_waited_for(
    database: Database, worker: SqlWorker
) -> None:
    await limit(database, rate=1e-6, burst=5)
    held = await worker.given_all([{"kind": "a"}] * 5, 2)
    async with open_transaction(database, "claimer") as claimer:
        await SqlWorker(claimer, "other").claim(1)
        assert await worker.release(held) == {}
        await claimer.execute("commit")
    assert round((await tokens(database))[""]) == 2
