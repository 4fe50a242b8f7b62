from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import product
from time import monotonic
from typing import Any
from uuid import uuid4

import msgspec
import pytest
import trio

from leasehold.actors.attempts.held_job import HeldJob, Holdings
from leasehold.actors.attempts.outcome import (
    Blocked,
    Committed,
    Completed,
    Continued,
    Failed,
    Outcome,
    Released,
    Rescheduled,
)
from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.running import settlement
from leasehold.actors.running import settler as settler_module
from leasehold.actors.running.settler import Settler
from leasehold.actors.supervise import supervise
from leasehold.app import App
from leasehold.app.registry import builtin_app
from leasehold.client import Client
from leasehold.database import Caller, Database, Row, open_database
from leasehold.errors import ActorFailed, DatabaseUnavailable
from leasehold.jobs.endings import RetryPolicy
from leasehold.jobs.new_job import NewJob
from tests.support.callers import FragileCaller
from tests.support.held import INCARNATION, held_job
from tests.support.proxy import proxied
from tests.support.waiting import PATIENCE, until

ERROR = {"type": "ValueError", "message": "no", "traceback": ""}
UNKEEPABLE = r'"\u0000"'


class Settling:
    """A settler with claimed jobs in front of it."""

    def __init__(self, database: Database, reserved: Caller | None = None) -> None:
        self.database = database
        self.client = Client(database)
        self.identity = WorkerIdentity("w1")
        self.incarnation = self.identity.incarnation
        self.holdings = Holdings()
        self.holdings.subscribe(self._count)
        self.settled = 0
        self.first_batch: list[str] = []
        """The calls that the first batch took."""
        self.reserved = FragileCaller(reserved or database)
        self.settler = Settler(self.reserved, self.identity, self.holdings)

    def _count(self, jobs: Sequence[HeldJob]) -> None:
        self.settled += len(jobs)
        self.first_batch = self.first_batch or list(self.reserved.calls)

    async def claim(self, count: int = 1, **fields: Any) -> list[HeldJob]:
        """Jobs of the database, claimed."""
        await self.client.enqueue_many([NewJob(kind="echo", **fields)] * count)
        rows = await self.database.call("claim_jobs", self.incarnation, "w1", batch=count)
        app = builtin_app()
        claimed = [HeldJob(row, app.find(row["kind"]), 0.0, 20.0, self.incarnation) for row in rows]
        self.holdings.add(claimed)
        return claimed

    async def settle(self, *outcomes: Outcome) -> None:
        for outcome in outcomes:
            self.settler.outcomes.put(outcome)
        await self.settler.flush()

    async def states(self) -> dict[int, str]:
        return {job.id: job.state for job in await self.client.jobs.list()}

    async def events(self, job_id: int) -> list[str]:
        return [entry.event for entry in await self.client.jobs.timeline(job_id)]


async def test_outcomes_of_all_kinds_are_written_in_one_batch(database: Database) -> None:
    bundle = Settling(database)
    done, broken, later, unstarted = await bundle.claim(4)
    await bundle.settle(
        Released(unstarted),
        Rescheduled(later, 60.0, "busy"),
        Failed(broken, ERROR, discard=True),
        Completed(done, "[1]"),
    )
    assert await bundle.states() == {
        done.id: "completed",
        broken.id: "failed",
        later.id: "scheduled",
        unstarted.id: "pending",
    }
    assert (await bundle.client.get(done.id)).output == [1]
    assert (await bundle.client.get(broken.id)).error == ERROR
    counts = bundle.settler.statistics()
    assert (counts.completed, counts.failed, counts.returned, counts.refused, counts.waiting) == (1, 1, 2, 0, 0)
    assert (bundle.holdings, bundle.settled) == ({}, 4)


async def test_a_handler_that_a_shutdown_ends_in_its_first_moments_gives_no_token_back(database: Database) -> None:
    """No renewal had said yet that it runs, and the next worker would start more than the rate allows."""
    await database.call("set_limit", "default", rate=1e-6, burst=2)
    bundle = Settling(database)
    begun, unstarted = await bundle.claim(2)
    begun.started = monotonic()
    await bundle.settle(Released(begun), Released(unstarted))
    assert set((await bundle.states()).values()) == {"pending"}
    assert len(await database.call("claim_jobs", uuid4(), "w2", batch=2)) == 1
    assert "started" in await bundle.events(begun.id)


async def test_many_outcomes_take_few_statements(database: Database) -> None:
    bundle = Settling(database)
    for held in await bundle.claim(1200):
        bundle.settler.outcomes.put(Completed(held, None))
    while bundle.settler.statistics().waiting:
        await bundle.settler.flush()
    assert bundle.settler.statistics().completed == 1200
    assert bundle.settler.statistics().statements == 3


@pytest.mark.parametrize("poisoned", [{3}, {0, 6}, {0, 1, 2, 3, 4, 5, 6}])
async def test_an_output_that_postgres_refuses_fails_its_job_and_none_of_its_neighbours(
    database: Database, poisoned: set[int]
) -> None:
    bundle = Settling(database)
    claimed = await bundle.claim(7)
    await bundle.settle(*(Completed(held, UNKEEPABLE if n in poisoned else "1") for n, held in enumerate(claimed)))
    for n, held in enumerate(claimed):
        job = await bundle.client.get(held.id)
        assert job.state == ("failed" if n in poisoned else "completed")
        if n in poisoned:
            assert job.error["type"] == "InvalidOutput"


async def test_a_reason_that_postgres_refuses_fails_its_job_and_none_of_its_neighbours(database: Database) -> None:
    bundle = Settling(database)
    good, bad = await bundle.claim(2)
    await bundle.settle(Rescheduled(good, 60.0, "fine"), Rescheduled(bad, 60.0, "nul \x00 \ud800"))
    assert await bundle.states() == {good.id: "scheduled", bad.id: "failed"}


async def test_a_trigger_of_the_user_that_refuses_a_completed_job_harms_no_other(database: Database) -> None:
    await database.execute("""
        create function public.refuse() returns trigger language plpgsql as $$
        begin raise exception 'this one is not welcome'; end $$;
        create trigger refuse before insert on leasehold.finished_jobs for each row
          when (new.state = 'completed' and new.key = 'poison') execute function public.refuse()
    """)
    bundle = Settling(database)
    poison = (await bundle.claim(1, key="poison"))[0]
    good = await bundle.claim(3)
    await bundle.settle(*(Completed(held, None) for held in [poison, *good]))
    assert await bundle.states() == {poison.id: "failed"} | {held.id: "completed" for held in good}
    assert "not welcome" in (await bundle.client.get(poison.id)).error["message"]


async def test_a_database_that_refuses_even_the_failure_ends_the_process(database: Database) -> None:
    bundle = Settling(database)
    [held] = await bundle.claim(1)
    await database.execute("""
        create function public.refuse() returns trigger language plpgsql as $$
        begin raise exception 'closed for today'; end $$;
        create trigger refuse before insert on leasehold.finished_jobs for each row execute function public.refuse()
    """)
    bundle.settler.outcomes.put(Completed(held, None))
    with pytest.raises(ActorFailed, match="closed for today"):
        await supervise(bundle.settler)


@asynccontextmanager
async def settling_through_a_proxy(database: Database) -> AsyncGenerator[tuple[Settling, Any]]:
    """A running settler whose connection goes through a proxy."""
    async with (
        proxied(database.dsn) as proxy,
        open_database(proxy.dsn, timeout=PATIENCE) as far,
        far.reserve("settler") as reserved,
        trio.open_nursery() as nursery,
    ):
        bundle = Settling(database, reserved)
        await bundle.settler.warm_up()
        nursery.start_soon(supervise, bundle.settler)
        yield bundle, proxy
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("cut", ["cut request", "cut reply"])
async def test_outcomes_are_written_once_when_the_connection_breaks_before_or_after_the_commit(
    database: Database, cut: Any
) -> None:
    async with settling_through_a_proxy(database) as (bundle, proxy):
        claimed = await bundle.claim(20)
        proxy.mode = cut
        for held in claimed:
            bundle.settler.outcomes.put(Completed(held, "1"))
        with trio.fail_after(PATIENCE):
            await bundle.settler.written()
        assert proxy.cuts == 1
        assert await database.fetch("select 1 from leasehold.finished_jobs") == [(1,)] * 20
        counts = bundle.settler.statistics()
        assert (counts.completed, counts.refused, counts.waiting, bundle.holdings) == (20, 0, 0, {})


@pytest.mark.parametrize("cut", ["cut request", "cut reply"])
async def test_a_failure_counts_once_when_the_connection_breaks_before_or_after_the_commit(
    database: Database, cut: Any
) -> None:
    async with settling_through_a_proxy(database) as (bundle, proxy):
        [held] = await bundle.claim(1)
        proxy.mode = cut
        bundle.settler.outcomes.put(Failed(held, ERROR, retry_in=60.0))
        with trio.fail_after(PATIENCE):
            await bundle.settler.written()
        assert (await bundle.states(), bundle.holdings) == ({held.id: "scheduled"}, {})
        assert (await bundle.events(held.id)).count("attempt_failed") == 1


async def test_of_a_batch_of_which_one_part_was_written_only_the_rest_is_written_again(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    bundle = Settling(database)
    done, broken = await bundle.claim(2)
    bundle.reserved.lose_request = {"fail_jobs"}
    bundle.settler.outcomes.put(Completed(done, None))
    bundle.settler.outcomes.put(Failed(broken, ERROR, retry_in=60.0))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, bundle.settler)
        with trio.fail_after(PATIENCE):
            await bundle.settler.written()
        nursery.cancel_scope.cancel()
    assert bundle.reserved.calls == ["complete_jobs", "fail_jobs", "fail_jobs"]
    assert await bundle.states() == {done.id: "completed", broken.id: "scheduled"}
    assert (bundle.settler.statistics().refused, bundle.settler.statistics().completed) == (0, 1)
    assert caplog.text.count(f"completed job {done.id}") == 1


async def test_what_a_former_owner_writes_is_refused_changes_nothing_and_is_reported(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    bundle = Settling(database)
    [held] = await bundle.claim(1)
    await database.fetch("update leasehold.jobs set lease_expires_at = now() - interval '1 s'")
    await bundle.client.jobs.recover_stale(1)
    [taken] = await database.call("claim_jobs", uuid4(), "w2")
    before = await database.fetch("select * from leasehold.jobs")
    await bundle.settle(Completed(held, '"zombie"'))
    assert await database.fetch("select * from leasehold.jobs") == before
    assert taken["attempt"] == 2
    assert f"job {held.id}: outcome refused, taken_by_another_worker" in caplog.text
    assert bundle.settler.statistics().refused == 1
    assert bundle.holdings == {}


async def test_a_refused_outcome_leaves_a_newer_attempt_of_the_same_job_held(database: Database) -> None:
    bundle = Settling(database)
    [old] = await bundle.claim(1)
    await database.fetch("update leasehold.jobs set lease_expires_at = now() - interval '1 s'")
    await bundle.client.jobs.recover_stale(1)
    [row] = await database.call("claim_jobs", bundle.incarnation, "w1")
    newer = held_job(old.id, attempt=row["attempt"])
    bundle.holdings[old.id] = newer
    await bundle.settle(Completed(old, None))
    assert bundle.holdings == {old.id: newer}


async def test_slots_are_asked_to_wait_while_too_much_is_unwritten(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settler_module, "MOST_WAITING", 10)
    bundle = Settling(database)
    for held in await bundle.claim(11):
        assert not bundle.settler.outcomes.is_crowded
        bundle.settler.outcomes.put(Completed(held, None))
    assert bundle.settler.outcomes.is_crowded
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, bundle.settler)
        with trio.fail_after(PATIENCE):
            await bundle.settler.outcomes.room()
        assert not bundle.settler.outcomes.is_crowded
        await until(lambda: bundle.settled == 11)
        nursery.cancel_scope.cancel()


async def test_a_job_being_settled_cannot_be_lost_any_more(database: Database) -> None:
    bundle = Settling(database)
    [held] = await bundle.claim(1)
    bundle.settler.outcomes.put(Completed(held, None))
    held.lose("error")
    assert held.lost is None
    await bundle.settler.flush()
    assert await bundle.states() == {held.id: "completed"}


def continued(held: HeldJob, **document: Any) -> Continued:
    """The outcome of a handler that continues its chain, or only starts others."""
    return Continued(held, msgspec.json.encode(document).decode(), None, has_next="next" in document)


async def test_continuations_and_waits_are_each_written_in_one_statement(database: Database) -> None:
    bundle = Settling(database)
    first, second, third, fourth = await bundle.claim(4)
    await bundle.settle(
        continued(first, next={"kind": "next"}),
        continued(second, jobs=[{"kind": "other"}]),
        Blocked(third, '{"jobs": [{"kind": "part"}], "blockers": [{"position": 1}]}'),
        Blocked(fourth, '{"blockers": [], "delay": 60}'),
    )
    states = await bundle.states()
    assert [states[held.id] for held in (first, second, third, fourth)] == [
        "completed",
        "completed",
        "blocked",
        "scheduled",
    ]
    assert sorted(job.kind for job in await bundle.client.jobs.list(state="pending")) == ["next", "other", "part"]
    counts = bundle.settler.statistics()
    assert (counts.completed, counts.returned, counts.refused, counts.statements) == (2, 2, 0, 2)
    assert bundle.holdings == {}


async def test_a_continuation_that_is_refused_fails_its_job_and_none_of_its_neighbours(database: Database) -> None:
    bundle = Settling(database)
    good, bad, unknown, also_good = await bundle.claim(4)
    await bundle.settle(
        continued(good, next={"kind": "next"}),
        continued(bad, next={"kind": "next", "delay": -1}),
        Blocked(unknown, '{"blockers": [999]}'),
        continued(also_good, next={"kind": "next"}),
    )
    states = await bundle.states()
    assert [states[held.id] for held in (good, bad, unknown, also_good)] == [
        "completed",
        "failed",
        "failed",
        "completed",
    ]
    for held, complaint in ((bad, "delay"), (unknown, "999")):
        error = (await bundle.client.get(held.id)).error
        assert error["type"] == "InvalidContinuation"
        assert complaint in error["message"]
    assert len(await bundle.client.jobs.list(kind="next")) == 2


async def test_big_continuations_are_spread_over_statements(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settlement, "MOST_CONTINUATION_BYTES", 100)
    bundle = Settling(database)
    held = await bundle.claim(4)
    small, large = {"kind": "next"}, {"kind": "next", "args": {"text": "x" * 200}}
    await bundle.settle(*(continued(each, next=large if n == 1 else small) for n, each in enumerate(held)))
    assert len(await bundle.client.jobs.list(kind="next")) == 4
    assert bundle.settler.statistics().statements == 3


async def test_what_its_handler_has_committed_is_let_go_of_without_a_statement(database: Database) -> None:
    bundle = Settling(database)
    [held] = await bundle.claim(1)
    await bundle.settle(Committed(held, has_next=False))
    counts = bundle.settler.statistics()
    assert (counts.completed, counts.statements, bundle.holdings, bundle.settled) == (1, 0, {}, 1)


ENDS = [
    ("failed", "scheduled"),
    ("discarded", "failed"),
    ("rescheduled", "scheduled"),
    ("released", "pending"),
    ("blocked", "blocked"),
    ("continued", "completed"),
]


def an_end(name: str, held: HeldJob) -> Outcome:
    """An attempt's end of this name."""
    ends: dict[str, Outcome] = {
        "failed": Failed(held, ERROR, retry_in=60.0),
        "discarded": Failed(held, ERROR, discard=True),
        "rescheduled": Rescheduled(held, 60.0, "busy"),
        "released": Released(held),
        "blocked": Blocked(held, '{"jobs": [{"kind": "part"}], "blockers": [{"position": 1}]}'),
        "continued": continued(held, next={"kind": "next"}),
    }
    return ends[name]


async def test_a_write_whose_reply_was_lost_is_repeated_without_effect_and_without_a_warning(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    cuts: list[Any] = ["cut request", "cut reply"]
    for cut, (name, state) in product(cuts, ENDS):
        async with settling_through_a_proxy(database) as (bundle, proxy):
            [held] = await bundle.claim(1)
            proxy.mode = cut
            bundle.settler.outcomes.put(an_end(name, held))
            with trio.fail_after(PATIENCE):
                await bundle.settler.written()
            assert (cut, name, (await bundle.states())[held.id]) == (cut, name, state)
            made = [job for job in await bundle.client.jobs.list() if job.kind in ("next", "part")]
            assert len(made) <= 1
            assert bundle.settler.statistics().refused == 0
        assert "refused" not in caplog.text, (cut, name)
        await database.execute("delete from leasehold.jobs; delete from leasehold.finished_jobs")


async def test_a_repeated_write_of_a_lease_that_was_lost_is_refused_with_a_warning(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    bundle = Settling(database)
    [held] = await bundle.claim(1)
    bundle.reserved.lose_request = {"fail_jobs"}
    bundle.settler.outcomes.put(Failed(held, ERROR))
    with pytest.raises(DatabaseUnavailable):
        await bundle.settler.flush()
    await database.fetch("update leasehold.jobs set lease_expires_at = now() - interval '1 s'")
    await database.call("reap_jobs")
    await bundle.settler.flush()
    counts = bundle.settler.statistics()
    assert (counts.refused, counts.repeated, counts.waiting) == (1, 0, 0)
    assert f"job {held.id}: outcome refused, taken_by_another_worker" in caplog.text


class Recorder(Caller):
    """Keeps what is called and answers nothing."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        self.calls.append(args)
        return []


async def test_a_kind_without_a_back_off_of_its_own_gets_that_of_the_worker() -> None:
    identity = WorkerIdentity("w1", INCARNATION, retry=RetryPolicy(initial=1, multiplier=3, cap=60))
    recorder, app = Recorder(), App()
    own = app.kind("own", retry=RetryPolicy(initial=5))(nothing)
    none = app.kind("none")(nothing)
    settler = Settler(recorder, identity, Holdings())
    for number, kind in enumerate((own, none), start=1):
        settler.outcomes.put(Failed(held_job(number, kind=kind), ERROR))
    await settler.flush()
    [sent] = recorder.calls
    assert sent[-3:] == ([5.0, 1.0], [2.0, 3.0], [300.0, 60.0])


async def test_a_linear_back_off_is_sent_with_its_step() -> None:
    identity = WorkerIdentity("w1", INCARNATION, retry=RetryPolicy(initial=1))
    recorder, app = Recorder(), App()
    linear, none = app.kind("own", retry=RetryPolicy.linear(step=5, cap=60))(nothing), app.kind("none")(nothing)
    settler = Settler(recorder, identity, Holdings())
    for number, kind in enumerate((linear, none), start=1):
        settler.outcomes.put(Failed(held_job(number, kind=kind), ERROR))
    await settler.flush()
    [sent] = recorder.calls
    assert sent[-2:] == ([60.0, 300.0], [5.0, None])


async def nothing() -> None:
    """Nothing."""
