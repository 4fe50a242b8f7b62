from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from time import monotonic
from typing import Any
from uuid import uuid4

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from leasehold.actors.attempts.context import context_of
from leasehold.actors.attempts.held_job import Backlog, HeldJob
from leasehold.actors.leases import dispatcher as dispatcher_module
from leasehold.actors.leases import poll
from leasehold.actors.leases import reconciler as reconciler_module
from leasehold.actors.leases.dispatcher import Dispatcher
from leasehold.actors.leases.sweeper import LeaseSweeper
from leasehold.actors.leases.watcher import Pulse
from leasehold.actors.process import Process
from leasehold.actors.supervise import supervise
from leasehold.app import App
from leasehold.app.registry import builtin_app
from leasehold.client import Client
from leasehold.database import Database
from leasehold.database.border import listen
from leasehold.jobs.new_job import NewJob
from leasehold.settings import Settings
from tests.support.callers import FragileCaller
from tests.support.held import held_job
from tests.support.turns import Turns
from tests.support.waiting import PATIENCE, eventually, until


class Dispatching:
    """A dispatcher with nobody behind it: the test plays the slots."""

    def __init__(
        self,
        database: Database,
        *,
        app: App | None = None,
        slots: int = 3,
        poll_seconds: float = 30.0,
        back_off_for: Callable[[], float] = float,
        sweeper: LeaseSweeper | None = None,
    ) -> None:
        self.database = database
        self.client = Client(database)
        self.reserved = FragileCaller(database)
        settings = Settings(slots=slots, poll_seconds=poll_seconds)
        process = Process(database, settings, app or builtin_app())
        process.switchboard.listening = True
        worker = context_of(process, "w1")
        self.identity, self.mode, self.holdings = worker.identity, worker.mode, worker.holdings
        self.backlog = Backlog()
        self.dispatcher = Dispatcher(worker, self.reserved, self.backlog, Pulse(), back_off_for, sweeper or Turns())
        self.started: list[HeldJob] = []

    async def slot(self) -> None:
        """Take jobs and never finish one."""
        held = await self.backlog.take()
        if held is not None:
            self.started.append(held)

    async def claim_by_sql(self, batch: int = 1) -> list[int]:
        """Claim under the dispatcher's identity without its knowledge."""
        rows = await self.database.call("claim_jobs", self.identity.incarnation, "w1", batch=batch)
        return [row["job_id"] for row in rows]

    async def states(self) -> list[str]:
        return [job.state for job in await self.client.jobs.list()]

    async def events(self, job_id: int) -> list[str]:
        return [entry.event for entry in await self.client.jobs.timeline(job_id)]


@asynccontextmanager
async def dispatching(database: Database, **options: Any) -> AsyncGenerator[Dispatching]:
    """A running dispatcher with as many idle slots as it has."""
    bundle = Dispatching(database, **options)
    async with trio.open_nursery() as nursery:
        for _ in range(bundle.mode.slots):
            nursery.start_soon(bundle.slot)
        await wait_all_tasks_blocked()
        nursery.start_soon(supervise, bundle.dispatcher)
        yield bundle
        nursery.cancel_scope.cancel()


@pytest.fixture
def no_decay(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first poll takes as long as the last: what is found meanwhile was found for another reason."""
    monkeypatch.setattr(poll, "FIRST_POLL_SECONDS", 600.0)


async def test_free_slots_are_filled_in_one_claim(database: Database) -> None:
    await Client(database).enqueue_many([NewJob(kind="echo")] * 5)
    async with dispatching(database) as bundle:
        await until(lambda: len(bundle.started) == 3)
        assert [held.id for held in bundle.started] == [1, 2, 3]
        assert bundle.reserved.calls.count("claim_jobs") == 1
        assert sorted(bundle.holdings) == [1, 2, 3]
        assert await bundle.states() == ["pending", "pending", "claimed", "claimed", "claimed"]


@pytest.mark.usefixtures("no_decay")
async def test_a_wake_up_ends_the_wait_at_once(database: Database) -> None:
    async with dispatching(database, poll_seconds=600) as bundle:
        await until(lambda: "next_look_in" in bundle.reserved.calls)
        await bundle.client.enqueue("echo")
        bundle.dispatcher.wake()
        await until(lambda: len(bundle.started) == 1)
        assert bundle.dispatcher.statistics().wake_ups == 1
        assert bundle.dispatcher.statistics().lost_wake_ups == 0


@pytest.mark.usefixtures("no_decay")
async def test_where_nothing_is_expected_a_job_costs_one_claim_and_one_look(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher_module, "CALM_SECONDS", 600.0)
    async with dispatching(database, poll_seconds=600) as bundle:
        await until(lambda: "next_look_in" in bundle.reserved.calls)
        bundle.reserved.calls.clear()
        for jobs in (1, 2):
            await bundle.client.enqueue("echo")
            bundle.dispatcher.wake()
            await until(lambda jobs=jobs: len(bundle.started) == jobs)
            bundle.dispatcher.slot_freed()
            await until(lambda jobs=jobs: bundle.reserved.calls.count("look_for_work") == jobs)
        assert bundle.reserved.calls == ["claim_jobs", "look_for_work"] * 2


@pytest.mark.usefixtures("no_decay")
async def test_where_jobs_come_one_by_one_each_costs_one_claim_and_the_worker_goes_on_being_woken(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher_module, "CALM_SECONDS", 0.0)
    async with dispatching(database, poll_seconds=600) as bundle:
        await until(lambda: "next_look_in" in bundle.reserved.calls)
        await database.call("register_worker", bundle.identity.incarnation, "w1", "host", 1, "1", None, None, 3, True)
        bundle.reserved.calls.clear()
        bundle.dispatcher.wake()
        await until(lambda: bundle.reserved.calls == ["claim_jobs", "next_look_in"])
        bundle.reserved.calls.clear()
        for jobs in (1, 2):
            await bundle.client.enqueue("echo")
            bundle.dispatcher.wake()
            await until(lambda jobs=jobs: len(bundle.started) == jobs)
            bundle.dispatcher.slot_freed()
            assert await database.fetch("select from leasehold.workers where idle")
        assert bundle.reserved.calls == ["claim_jobs"] * 2


async def test_a_job_that_a_poll_found_although_nobody_rang_is_counted(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher_module, "UNHEARD_AFTER", 0.05)
    async with dispatching(database, poll_seconds=0.08) as bundle:
        await until(lambda: bundle.reserved.calls.count("look_for_work") >= 6)
        await bundle.client.enqueue("echo")
        await until(lambda: len(bundle.started) == 1)
        assert bundle.dispatcher.statistics().lost_wake_ups == 1


async def test_polls_claim_nothing_while_nothing_is_pending(database: Database) -> None:
    async with dispatching(database, poll_seconds=0.02) as bundle:
        await until(lambda: bundle.dispatcher.statistics().looks >= 5)
        assert bundle.reserved.calls.count("claim_jobs") == 1
        await bundle.client.enqueue("echo")
        await until(lambda: len(bundle.started) == 1)


async def test_where_nothing_was_pending_a_freed_slot_asks_by_a_poll_before_it_claims(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher_module, "SWEEP_SECONDS", 3600.0)
    async with dispatching(database, poll_seconds=0.02) as bundle:
        for _ in range(5):
            looks = bundle.dispatcher.statistics().looks
            await until(lambda looks=looks: bundle.dispatcher.statistics().looks > looks)
            bundle.dispatcher.slot_freed()
        assert bundle.reserved.calls.count("claim_jobs") == 1
        await bundle.client.enqueue("echo")
        bundle.dispatcher.slot_freed()
        await until(lambda: len(bundle.started) == 1)


async def test_a_poll_claims_now_and_then_although_it_sees_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher_module, "SWEEP_SECONDS", 0.05)
    async with dispatching(database, poll_seconds=0.02) as bundle:
        await until(lambda: bundle.dispatcher.statistics().empty_claims >= 3)


async def test_a_worker_whose_slots_were_full_claims_before_it_polls_and_so_is_shown_as_idle(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else nobody rings it: its next job would wait for a poll."""
    room, seen = [2], [2]

    def claim_size(*_: object) -> int:
        seen.append(room[0])
        return room[0]

    monkeypatch.setattr(dispatcher_module, "claim_size", claim_size)
    monkeypatch.setattr(dispatcher_module, "SWEEP_SECONDS", 3600.0)
    await Client(database).enqueue("echo")
    async with dispatching(database, poll_seconds=0.02) as bundle:
        await until(lambda: len(bundle.started) == 1 and bundle.dispatcher.statistics().looks > 1)
        room[0] = 0
        await until(lambda: seen[-1] == 0)
        room[0] = 1
        bundle.dispatcher.slot_freed()
        await until(lambda: bundle.dispatcher.statistics().empty_claims == 1)


async def test_a_worker_whose_last_claim_could_not_say_that_it_is_idle_says_so_at_its_next_poll(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim leaves the row of the worker alone where somebody has it; the next one may come a minute later."""
    monkeypatch.setattr(dispatcher_module, "SWEEP_SECONDS", 3600.0)
    async with dispatching(database, poll_seconds=0.02, sweeper=Turns()) as bundle:
        await until(lambda: bundle.dispatcher.statistics().empty_claims == 1)
        await database.call("register_worker", bundle.identity.incarnation, "w1", "host", 1, "1", None, None, 3, True)
        await eventually(lambda: database.fetch("select from leasehold.workers where idle"))
        assert bundle.dispatcher.statistics().empty_claims == 1


async def test_a_job_that_others_were_rung_for_is_no_lost_wake_up(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher_module, "UNHEARD_AFTER", 0.05)

    def hear_of_others_first() -> float:
        bundle.dispatcher.overhear()  # after each wait, before the poll that may find a job
        return 0.0

    async with dispatching(database, poll_seconds=0.08, back_off_for=hear_of_others_first) as bundle:
        await until(lambda: bundle.reserved.calls.count("look_for_work") >= 6)
        await bundle.client.enqueue("echo")
        await until(lambda: len(bundle.started) == 1)
        assert bundle.dispatcher.statistics().lost_wake_ups == 0


@pytest.mark.usefixtures("no_decay")
async def test_a_scheduled_job_is_claimed_at_its_time_without_a_scheduler(database: Database) -> None:
    enqueued_at = monotonic()
    await Client(database).enqueue("echo", delay=timedelta(seconds=0.4))
    async with dispatching(database, poll_seconds=600) as bundle:
        await until(lambda: len(bundle.started) == 1)
        assert monotonic() - enqueued_at >= 0.4


async def test_a_job_that_lacks_a_token_is_claimed_when_there_is_one(database: Database) -> None:
    client = Client(database)
    await client.queues.set_limit("default", rate=2.5, burst=1)
    await client.enqueue_many([NewJob(kind="echo")] * 3)
    began_at = monotonic()
    async with dispatching(database, poll_seconds=60) as bundle:
        await until(lambda: len(bundle.started) == 3)
        assert monotonic() - began_at >= 0.75
        # The polls after each job decay: two dozen of them, not one each millisecond.
        assert bundle.reserved.calls.count("claim_jobs") < 40


@pytest.mark.usefixtures("no_decay")
async def test_a_slot_of_a_limit_that_gets_free_elsewhere_is_used_at_the_wake_up(database: Database) -> None:
    client = Client(database)
    await client.queues.set_limit("default", max_running=1)
    [first, _] = await client.enqueue_many([NewJob(kind="echo")] * 2)
    holder = uuid4()
    await database.call("claim_jobs", holder, "w2")
    async with dispatching(database, poll_seconds=600) as bundle, listen(database, "leasehold") as listening:
        await database.call("register_worker", bundle.identity.incarnation, "w1", "host", 1, "0", [], [], 3, True)
        bundle.dispatcher.wake()  # so that it is shown as idle
        await until(lambda: bundle.reserved.calls.count("next_look_in") >= 2)
        await database.call("complete_jobs", holder, [first], [1], [None], [0.0])
        with trio.fail_after(PATIENCE):
            assert await listening.payloads.receive() == "wake:default"
        bundle.dispatcher.wake()
        await until(lambda: len(bundle.started) == 1)


async def test_a_kind_may_have_a_lease_of_its_own(database: Database) -> None:
    app = builtin_app()

    @app.kind(lease=300)
    async def long() -> None:
        """Nothing."""

    async with dispatching(database, app=app) as bundle:
        await bundle.client.enqueue_many([long.new(), long.new()])
        await bundle.client.enqueue("echo")
        bundle.dispatcher.wake()
        await until(lambda: len(bundle.started) == 3)
        assert {held.kind.name: held.lease for held in bundle.started} == {"long": 300.0, "echo": 60.0}


async def test_a_claim_that_was_never_heard_of_is_handed_back_and_its_attempt_does_not_count(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    bundle = Dispatching(database)
    await bundle.client.enqueue("echo", max_attempts=1)
    bundle.reserved.lose_reply = {"claim_jobs"}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bundle.slot)
        nursery.start_soon(supervise, bundle.dispatcher)
        await until(lambda: len(bundle.started) == 1)
        nursery.cancel_scope.cancel()
    assert bundle.started[0].attempt == 2
    assert await bundle.events(1) == ["created", "claimed", "released", "claimed"]
    assert bundle.dispatcher.statistics().leaked == 1
    assert "handed back 1 jobs whose claim was never heard of" in caplog.text


async def test_what_the_database_does_not_know_any_more_is_lost(database: Database) -> None:
    bundle = Dispatching(database)
    strange, settling = held_job(77), held_job(78)
    settling.settling = True
    bundle.holdings.update({77: strange, 78: settling})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, bundle.dispatcher)
        await until(lambda: strange.lost is not None)
        nursery.cancel_scope.cancel()
    assert strange.lost == "taken_by_another_worker"
    assert settling.lost is None


async def test_it_compares_only_while_it_holds_jobs(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconciler_module, "RECONCILE_SECONDS", 0.0)
    async with dispatching(database, poll_seconds=0.02) as bundle:
        await until(lambda: bundle.dispatcher.statistics().looks >= 5)
        assert bundle.reserved.calls.count("held_jobs") == 1
        await bundle.client.enqueue("echo")
        await until(lambda: bundle.reserved.calls.count("held_jobs") >= 5)
        await bundle.database.call("complete_jobs", bundle.identity.incarnation, [1], [1], [None], [0.0])
        await until(lambda: bundle.started[0].lost is not None)
        bundle.holdings.clear()
        await until(lambda: bundle.reserved.calls[-20:].count("held_jobs") == 0)


async def test_a_poll_asks_for_the_turn_to_reap_in_the_same_statement(database: Database) -> None:
    sweeper = Turns()
    turns = sweeper.turns
    async with dispatching(database, poll_seconds=0.02, sweeper=sweeper) as bundle:
        await until(lambda: turns[:3] == [False, False, False])
        await bundle.client.enqueue("echo")
        await until(lambda: len(bundle.started) == 1)
        await database.execute(
            "update leasehold.jobs set lease_expires_at = now(), claimed_at = now() - interval '61 s'"
        )
        await until(lambda: True in turns)


async def test_what_it_runs_and_the_database_knows_is_left_alone(database: Database) -> None:
    bundle = Dispatching(database)
    await bundle.client.enqueue("echo")
    await bundle.claim_by_sql()
    mine = held_job(1)
    bundle.holdings[1] = mine
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bundle.slot)
        await wait_all_tasks_blocked()
        nursery.start_soon(supervise, bundle.dispatcher)
        await until(lambda: "claim_jobs" in bundle.reserved.calls)
        nursery.cancel_scope.cancel()
    assert mine.lost is None
    assert await bundle.states() == ["claimed"]


@pytest.fixture
def nobody_is_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was fetched ahead waits for its slot for as long as it takes."""
    monkeypatch.setattr(dispatcher_module, "HAND_BACK_AFTER", 3600.0)


@asynccontextmanager
async def fetched_ahead(database: Database) -> AsyncGenerator[Dispatching]:
    """One slot that is busy with the first of twenty jobs, and a backlog of others that were claimed ahead of it."""
    bundle = Dispatching(database, slots=1)
    await bundle.client.enqueue_many([NewJob(kind="echo")] * 20)
    bundle.holdings.settled([held_job()] * 100_000)  # so it is a fast worker
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bundle.slot)
        await wait_all_tasks_blocked()
        nursery.start_soon(supervise, bundle.dispatcher)
        await until(lambda: len(bundle.started) == 1)
        assert len(bundle.backlog) > 0
        yield bundle
        await until(lambda: list(bundle.holdings) == [bundle.started[0].id])

        async def rest_is_free() -> bool:
            return (await bundle.states()).count("pending") == 19

        await eventually(rest_is_free)
        nursery.cancel_scope.cancel()


@pytest.mark.usefixtures("nobody_is_stuck")
@pytest.mark.parametrize("broken", [False, True], ids=["plainly", "although the connection breaks"])
async def test_draining_hands_back_what_has_not_started_and_closes_the_backlog(
    database: Database, broken: bool
) -> None:
    async with fetched_ahead(database) as bundle:
        bundle.reserved.lose_request = {"release_jobs"} if broken else set()
        bundle.mode.drain()
        await until(lambda: bundle.backlog.closed)


@pytest.mark.usefixtures("nobody_is_stuck")
@pytest.mark.parametrize("broken", [False, True], ids=["plainly", "although the connection breaks"])
async def test_jobs_fetched_ahead_are_handed_back_when_every_slot_is_stuck(
    database: Database, monkeypatch: pytest.MonkeyPatch, broken: bool
) -> None:
    async with fetched_ahead(database) as bundle:
        bundle.reserved.lose_request = {"release_jobs"} if broken else set()
        monkeypatch.setattr(dispatcher_module, "HAND_BACK_AFTER", 0.05)
        bundle.dispatcher.slot_freed()  # it looks again
        await until(lambda: len(bundle.backlog) == 0)


async def test_a_claim_that_comes_back_after_draining_began_is_handed_back_unstarted(database: Database) -> None:
    bundle = Dispatching(database)
    await bundle.client.enqueue("echo")
    gate = bundle.reserved.held_up["claim_jobs"] = trio.Event()
    async with trio.open_nursery() as nursery:
        for _ in range(bundle.mode.slots):
            nursery.start_soon(bundle.slot)
        await wait_all_tasks_blocked()
        nursery.start_soon(supervise, bundle.dispatcher)

        async def is_claimed() -> bool:
            return await bundle.states() == ["claimed"]

        await eventually(is_claimed)
        bundle.mode.drain()
        gate.set()
    assert bundle.started == []
    assert await bundle.states() == ["pending"]


async def test_paused_queues_are_left_alone_until_they_are_resumed(database: Database) -> None:
    async with dispatching(database, poll_seconds=0.05) as bundle:
        await bundle.client.queues.pause("default")
        await bundle.client.enqueue("echo")
        seen = bundle.reserved.calls.count("claim_jobs")
        await until(lambda: bundle.reserved.calls.count("claim_jobs") > seen + 2)
        assert bundle.started == []
        await bundle.client.queues.resume("default")
        await until(lambda: len(bundle.started) == 1)


async def test_while_it_is_held_back_nothing_is_claimed(database: Database) -> None:
    held_back = [0.0]
    client = Client(database)
    await client.enqueue_many([NewJob(kind="echo")] * 2)
    async with dispatching(database, back_off_for=lambda: held_back[0]) as bundle:
        await until(lambda: len(bundle.started) == 2)
        held_back[0] = float("inf")
        await client.enqueue_many([NewJob(kind="echo")] * 4)
        claims = bundle.reserved.calls.count("claim_jobs")
        bundle.dispatcher.wake()
        await wait_all_tasks_blocked()
        assert bundle.reserved.calls.count("claim_jobs") <= claims + 1, "one may have been on its way"
        assert len(bundle.started) == 2
        held_back[0] = 0.0
        bundle.dispatcher.slot_freed()
        await until(lambda: len(bundle.started) == 3)


async def test_what_had_not_begun_goes_back_when_it_is_held_back(database: Database) -> None:
    held_back = [0.0]
    await Client(database).enqueue_many([NewJob(kind="echo")] * 3)
    async with dispatching(database, slots=1, back_off_for=lambda: held_back[0]) as bundle:
        await until(lambda: len(bundle.started) == 1)
        held_back[0] = float("inf")
        bundle.backlog.extend([held_job(number) for number in await bundle.claim_by_sql(2)])
        bundle.dispatcher.slot_freed()
        await until(lambda: bundle.dispatcher.statistics().handed_back == 2)
        assert await bundle.states() == ["pending", "pending", "claimed"]


@pytest.mark.usefixtures("nobody_is_stuck")
async def test_of_a_paused_queue_goes_back_what_had_not_begun_and_of_no_other(database: Database) -> None:
    client = Client(database)
    async with dispatching(database, slots=1) as bundle:
        await client.enqueue_many([NewJob(kind="echo", queue=queue) for queue in ("a", "a", "b", "b")])
        bundle.dispatcher.wake()
        await until(lambda: len(bundle.started) == 1)
        rows = await database.call("claim_jobs", bundle.identity.incarnation, "w1", batch=3)
        bundle.backlog.extend([held_job(row["job_id"], queue=row["queue"]) for row in rows])
        bundle.dispatcher.pause_queue("b")
        await until(lambda: bundle.dispatcher.statistics().handed_back == 2)
        assert len(bundle.backlog) == 1
