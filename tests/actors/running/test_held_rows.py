"""The settler beside sessions that hold what it needs."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import trio

from leasehold.actors.attempts.outcome import Completed, Failed, Released
from leasehold.actors.running import settler as leftovers_module
from leasehold.actors.running import settler as settler_module
from leasehold.actors.running.settler import Outcomes
from leasehold.actors.supervise import supervise
from leasehold.database import Database
from tests.actors.running.test_settler import ERROR, Settling, continued
from tests.support.held import held_job
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_waits import open_transaction
from tests.support.waiting import eventually, until


@asynccontextmanager
async def settling(database: Database) -> AsyncGenerator[Settling]:
    """A settler that runs over a connection of its own."""
    async with database.reserve("settler") as reserved, trio.open_nursery() as nursery:
        bundle = Settling(database, reserved)
        nursery.start_soon(supervise, bundle.settler)
        yield bundle
        nursery.cancel_scope.cancel()


async def test_outcomes_behind_a_held_row_are_written_and_the_held_one_follows(
    database: Database, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers_module, "LATE_AFTER", 0.0)
    async with settling(database) as bundle, open_transaction(database, "handler") as handler:
        claimed = await bundle.claim(6)
        done, broken = claimed[1], claimed[4]
        for held in (done, broken):
            await handler.call("assert_lease", held.id, held.attempt, bundle.incarnation)
        for held in claimed[:4]:
            bundle.settler.outcomes.put(Completed(held, None))
        bundle.settler.outcomes.put(Failed(broken, ERROR, discard=True))
        bundle.settler.outcomes.put(Released(claimed[5]))
        await until(lambda: bundle.settled == 4)
        states = await bundle.states()
        assert [states[held.id] for held in claimed] == [
            "completed", "claimed", "completed", "completed", "claimed", "pending",
        ]  # fmt: skip
        assert set(bundle.holdings) == {done.id, broken.id}
        assert bundle.settler.statistics().left_over == 2
        await until(lambda: "(leasehold handler) holds the row of job" in caplog.text)
        await handler.execute("commit")
        await until(lambda: bundle.settled == 6)
        assert bundle.holdings == {}
    states = await bundle.states()
    assert (states[done.id], states[broken.id]) == ("completed", "failed")
    counts = bundle.settler.statistics()
    assert (counts.completed, counts.failed, counts.returned, counts.refused, counts.waiting) == (4, 1, 1, 0, 0)


async def test_a_continuation_behind_the_unique_key_of_an_open_transaction_holds_up_no_other(
    database: Database,
) -> None:
    async with settling(database) as bundle, open_transaction(database, "user") as user:
        await enqueue_many(user, [{"kind": "b", "unique": {}}])
        claimed = await bundle.claim(8)
        for n, held in enumerate(claimed):
            job: dict[str, object] = {"kind": "b", "unique": {}} if n == 5 else {"kind": "c"}
            bundle.settler.outcomes.put(continued(held, jobs=[job]))
        await until(lambda: bundle.settled == 7)
        assert set(bundle.holdings) == {claimed[5].id}
        await user.execute("commit")
        await until(lambda: bundle.settled == 8)
    assert {(await bundle.states())[held.id] for held in claimed} == {"completed"}


async def test_where_locks_are_in_every_way_a_batch_ends_after_some_of_them(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty continuations behind one key: without a limit the halves would wait for sixty locks."""
    monkeypatch.setattr(settler_module, "RETRY_PAUSE", 0.0)
    async with settling(database) as bundle, open_transaction(database, "user") as user:
        await enqueue_many(user, [{"kind": "b", "unique": {}}])
        claimed = await bundle.claim(31)
        for held in claimed[:30]:
            bundle.settler.outcomes.put(continued(held, jobs=[{"kind": "b", "unique": {}}]))
        await until(lambda: bundle.settler.statistics().left_over == 30)
        assert bundle.first_batch.count("continue_jobs") <= 12
        bundle.settler.outcomes.put(Completed(claimed[30], None))
        await until(lambda: bundle.settled == 1)
        await user.execute("rollback")
        await until(lambda: bundle.settled == 31)


async def test_a_settler_behind_too_many_held_rows_says_that_nothing_more_is_to_be_claimed(
    database: Database, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers_module, "LATE_AFTER", 0.0)
    async with settling(database) as bundle, open_transaction(database, "handler") as handler:
        claimed = await bundle.claim(2)
        await handler.fetch("select from leasehold.jobs for update")
        bundle.settler.outcomes.put(Completed(claimed[0], None))
        await until(lambda: bundle.settler.statistics().left_over == 1)
        assert bundle.settler.back_off_for(2) == 0.0
        bundle.settler.outcomes.put(Completed(claimed[1], None))
        await until(lambda: bundle.settler.statistics().left_over == 2)
        assert bundle.settler.back_off_for(2) > 0.0
        assert bundle.settler.back_off_for(2) > 0.0
        assert caplog.text.count("claiming nothing more until outcomes can be written; 2 wait") == 1
        await handler.execute("commit")
        await until(lambda: bundle.settled == 2)
        assert bundle.settler.back_off_for(2) == 0.0


async def test_a_settler_that_writes_nothing_says_so_too(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settler_module, "STUCK_SECONDS", 0.0)
    bundle = Settling(database)
    [held] = await bundle.claim(1)
    assert bundle.settler.back_off_for(3) == 0.0
    bundle.settler.outcomes.put(Completed(held, None))
    assert bundle.settler.back_off_for(3) > 0.0
    await bundle.settler.flush()
    assert bundle.settler.back_off_for(3) == 0.0


async def test_a_line_that_moves_is_not_stuck_however_long_it_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(settler_module, "monotonic", lambda: now)
    line = Outcomes()
    for number in range(3):
        line.put(Completed(held_job(number), None))
    now = 60.0
    assert line.stands_since == 0.0
    line.remove(1)
    assert (len(line), line.stands_since) == (2, 60.0)


async def test_at_the_end_what_is_held_is_tried_until_it_is_free(database: Database) -> None:
    async with settling(database) as bundle, open_transaction(database, "handler") as handler:
        [held] = await bundle.claim(1)
        await handler.fetch("select from leasehold.jobs for update")
        bundle.settler.outcomes.put(Completed(held, None))
        await until(lambda: bundle.settler.statistics().left_over == 1)
        assert "(leasehold handler) holds the row of job" in await bundle.settler.describe_unwritten()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(bundle.settler.written)
            await handler.execute("commit")
    assert await bundle.states() == {held.id: "completed"}


async def test_what_was_held_and_then_lost_is_refused_as_ever(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async with settling(database) as bundle, open_transaction(database, "person") as person:
        [held] = await bundle.claim(1)
        await person.call("cancel_job", held.id)
        bundle.settler.outcomes.put(Completed(held, None))
        await until(lambda: bundle.settler.statistics().left_over == 1)
        await person.execute("commit")

        async def is_refused() -> bool:
            return bundle.settler.statistics().refused == 1

        await eventually(is_refused)
    assert f"job {held.id}: outcome refused, cancelled" in caplog.text
    assert bundle.holdings == {}
