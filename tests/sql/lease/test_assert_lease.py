from __future__ import annotations

from uuid import UUID

import pytest
import trio

from leasehold.database import Caller, Database, Row
from leasehold.errors import LeaseLost
from tests.support.sql_guards import LOSSES, expire, lost_job
from tests.support.sql_jobs import snapshot, states
from tests.support.sql_waits import frozen, open_transaction, until_waiting
from tests.support.sql_worker import SqlWorker, insist
from tests.support.waiting import PATIENCE


async def check(caller: Caller, incarnation: UUID, attempt: int = 1) -> None:
    await caller.call("assert_lease", 1, attempt, incarnation)


async def test_the_present_holder_passes_and_nothing_changes(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    for _ in ("claimed", "running"):
        before = await snapshot(database)
        await check(database, worker.incarnation)
        assert await snapshot(database) == before
        await worker.start(claimed)


async def test_a_former_holders_transaction_fails_as_a_whole(
    database: Database, worker: SqlWorker, subtests: pytest.Subtests
) -> None:
    await database.execute("create table public.effect (n int)")

    async def write(lost: Row) -> None:
        async with database.transaction() as transaction:
            await transaction.execute("insert into public.effect values (1)")
            await check(transaction, worker.incarnation, lost["attempt"])

    for loss in LOSSES:
        lost = await lost_job(database, worker, loss)
        with subtests.test(loss.name):
            with pytest.raises(LeaseLost, match="attempt 1 does not hold job 1 any more"):
                await write(lost)
            assert await database.fetch("select from public.effect") == []


async def test_a_wrong_attempt_or_incarnation_fails(database: Database, worker: SqlWorker) -> None:
    await worker.given()
    for attempt, incarnation in (
        (2, worker.incarnation),
        (0, worker.incarnation),
        (1, SqlWorker(database).incarnation),
    ):
        with pytest.raises(LeaseLost):
            await check(database, incarnation, attempt)


async def test_an_expired_lease_fails_even_before_anybody_has_taken_the_job(
    database: Database, worker: SqlWorker
) -> None:
    await worker.given()
    await expire(database, 1)
    with pytest.raises(LeaseLost):
        await check(database, worker.incarnation)


async def test_until_the_transaction_ends_nobody_takes_the_job(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    seen: list[object] = []

    async def cancel() -> None:
        async with database.reserve("cancel") as connection:
            seen.append(await insist(lambda: connection.call_value("cancel_job", 1)))

    async with trio.open_nursery() as nursery, open_transaction(database, "owner") as owner:
        await check(owner, worker.incarnation)
        async with frozen(database, "2999-01-01") as later:
            assert await later.call("reap_jobs") == []
        assert await worker.renew(claimed) == {}
        nursery.start_soon(cancel)
        await until_waiting(database, "cancel")
        assert await states(database) == {1: "running"}
        assert await worker.over(owner).complete(claimed) == {}
        with pytest.raises(LeaseLost):
            await check(owner, worker.incarnation)
        await owner.execute("rollback")
    assert seen == ["running"]


async def test_two_transactions_of_the_holder_may_check_at_once(database: Database, worker: SqlWorker) -> None:
    await worker.given()
    async with open_transaction(database, "one") as one, open_transaction(database, "two") as two:
        await check(one, worker.incarnation)
        with trio.fail_after(PATIENCE):
            await check(two, worker.incarnation)


async def test_effects_and_completion_commit_together(database: Database, worker: SqlWorker) -> None:
    await database.execute("create table public.effect (n int)")
    claimed = await worker.given()
    async with database.transaction() as transaction:
        await check(transaction, worker.incarnation)
        await transaction.execute("insert into public.effect values (1)")
        assert await worker.over(transaction).complete(claimed) == {}
    assert len(await database.fetch("select from public.effect")) == 1
    assert await states(database) == {1: "completed"}
