from __future__ import annotations

from uuid import uuid4

import pytest
import trio

from leasehold.database import Database
from leasehold.errors import BadInput, LeaseLost
from tests.support.sql_identities import add, give_back, held_job, take
from tests.support.sql_jobs import enqueue
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker


async def test_the_least_recently_used_comes_first(database: Database) -> None:
    ids = [await add(database, name) for name in ("a", "b", "c")]
    taken: list[int] = []
    for _ in range(4):
        row = await take(database)
        taken.append(row["identity_id"])
        await give_back(database, row, "fine")
    assert taken == [*ids, ids[0]]


async def test_callers_at_once_never_share_one(database: Database) -> None:
    for number in range(8):
        await add(database, f"i{number}")
    taken: list[int | None] = []

    async def take_one() -> None:
        taken.append((await take(database))["identity_id"])

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(take_one)
    got = [each for each in taken if each is not None]
    assert len(got) == len(set(got))
    while (row := await take(database))["identity_id"] is not None:
        got.append(row["identity_id"])
    assert len(got) == len(set(got)) == 8


async def test_a_dead_attempt_keeps_no_identity_and_gets_no_other(database: Database) -> None:
    async with database.transaction() as tx:
        await freeze(tx, "2026-01-01 00:00:00+00")
        await add(tx)
        dead, heir = SqlWorker(tx, "dead"), SqlWorker(tx, "heir")
        job = await held_job(tx, dead)
        first = await take(tx, job, dead)
        await heir.register()
        await enqueue(tx)
        await freeze(tx, "2026-01-01 00:02:00+00")
        second = await take(tx, await heir.claim_one(), heir)
        assert second["identity_id"] == first["identity_id"]
        assert second["lease_token"] == first["lease_token"] + 1
    with pytest.raises(LeaseLost, match="is over"):
        await give_back(database, first, "fine")


async def test_who_does_not_hold_the_job_gets_none(database: Database) -> None:
    await add(database)
    with pytest.raises(LeaseLost, match="attempt 1 does not hold job 7"):
        await take(database, job_id=7, attempt=1, incarnation=uuid4())


async def test_without_a_free_one_it_tells_how_long_to_wait(database: Database) -> None:
    async with database.transaction() as tx:
        await freeze(tx, "2026-01-01 00:00:00+00")
        await add(tx, "a", cool_seconds=30.0)
        await add(tx, "b")
        await give_back(tx, await take(tx, wanted="a"), "refused")
        await take(tx, wanted="b")
        row = await take(tx)
        assert (row["identity_id"], row["wait_for"], row["left_over"]) == (None, 30, 2)
        await freeze(tx, "2026-01-01 00:00:31+00")
        assert (await take(tx))["name"] == "a"


async def test_one_may_be_avoided(database: Database) -> None:
    first, second = await add(database, "a"), await add(database, "b")
    assert (await take(database, avoid=[first]))["identity_id"] == second


async def test_a_lease_without_a_job_is_short(database: Database, subtests: pytest.Subtests) -> None:
    for seconds in [0.0, -1.0, 3601.0, None]:
        with subtests.test(seconds=seconds), pytest.raises(BadInput, match="seconds must be more than 0"):
            await take(database, seconds=seconds)
