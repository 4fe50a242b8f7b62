"""What subscribers hear of a worker, on a real database."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
import trio

from leasehold import App, Client, Job, NewJob
from leasehold.actors.attempts.announcer import Announcer
from leasehold.actors.attempts.held_job import HeldJob, Holdings
from leasehold.actors.attempts.outcome import Completed, Failed
from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.running.settler import Settler
from leasehold.app.registry import builtin_app
from leasehold.database import Database
from leasehold.errors import DatabaseUnavailable
from leasehold.events import (
    AttemptEvent,
    ChainCompleted,
    ChainCreated,
    Event,
    JobBlocked,
    JobCancelled,
    JobClaimed,
    JobCompleted,
    JobCreated,
    JobEvent,
    JobFailed,
    JobLeaseLost,
    JobReaped,
    JobReleased,
    JobRequeued,
    JobRescheduled,
    JobRetried,
    JobStarted,
    JobUnblocked,
    LeaseRenewed,
    WorkerError,
    WorkerEvent,
    WorkerReady,
    WorkerStarted,
    WorkerStopped,
    WorkerStopping,
)
from leasehold.jobs.endings import ContinueWith, Discard, Reschedule, Retry
from tests.support.callers import FragileCaller
from tests.support.waiting import PATIENCE, eventually, until
from tests.support.working import a_scheduler, working


class Heard(list[Event]):
    """All that an app tells."""

    def __init__(self, app: App, event_type: type[Event] = Event) -> None:
        super().__init__()
        app.subscribe(event_type, self.append)

    def types(self, *among: type[Event]) -> list[type[Event]]:
        return [type(event) for event in self if not among or isinstance(event, among)]

    def one(self, event_type: type[Any]) -> Any:
        [event] = [event for event in self if type(event) is event_type]
        return event


async def test_a_job_tells_its_claim_its_start_and_once_it_is_committed_its_completion(database_url: str) -> None:
    app = builtin_app()
    states: list[Any] = []
    heard = Heard(app, AttemptEvent)
    async with working(database_url, app) as running:

        async def look(job_id: int) -> None:
            states.append((await running.client.get(job_id)).state)

        async with trio.open_nursery() as nursery:
            app.subscribe(JobCompleted, lambda event: nursery.start_soon(look, event.job_id))
            job_id = await running.client.enqueue("echo", queue="mail")
            await until(lambda: bool(states))
        await running.run("echo")
    assert states == ["completed"]
    assert heard.types()[:3] == [JobClaimed, JobStarted, JobCompleted]
    claimed, started, completed = heard[:3]
    facts = {"job_id": job_id, "attempt": 1, "kind": "echo", "queue": "mail", "worker_id": "w1"}
    assert isinstance(claimed, JobClaimed)
    assert {name: getattr(claimed, name) for name in claimed.__struct_fields__} == facts
    assert isinstance(started, JobStarted)
    assert 0 <= started.waited < PATIENCE
    assert isinstance(completed, JobCompleted)
    assert 0 < completed.ran_for < PATIENCE


async def test_the_end_of_a_chain_is_told_with_its_last_job(database_url: str) -> None:
    app = builtin_app()
    heard = Heard(app, ChainCompleted)
    async with working(database_url, app) as running:
        job = await running.run("echo")
        await until(lambda: bool(heard))
    assert heard == [ChainCompleted(chain_id=job.id, job_id=job.id, kind="echo", queue="default")]


async def test_a_job_that_continues_its_chain_tells_the_next_one_and_those_that_it_began(database_url: str) -> None:
    app = App()

    @app.kind()
    async def first(job: Job) -> ContinueWith[None]:
        return job.continue_with(second.new(), blockers=[part.new()], jobs=[aside.new()])

    @app.kind()
    async def part() -> None: ...

    @app.kind(queue="slow")
    async def aside() -> None: ...

    @app.kind()
    async def second(job: Job) -> None:
        async with job.complete() as tx:
            tx.output = "done"

    heard = Heard(app)
    async with working(database_url, app) as running:
        chain = await running.client.enqueue(first.new())
        await until(lambda: len(heard.types(ChainCompleted)) == 3 and bool(heard.types(JobUnblocked)))
    made = {event.kind: event.job_id for event in heard if isinstance(event, JobCreated)}
    assert set(made) == {"second", "part", "aside"}
    assert {event.chain_id for event in heard if isinstance(event, ChainCreated)} == {made["part"], made["aside"]}
    assert [event.queue for event in heard if isinstance(event, JobCreated) and event.kind == "aside"] == ["slow"]
    assert heard.one(JobBlocked) == JobBlocked(job_id=made["second"], kind="second", queue="default")
    assert heard.one(JobUnblocked) == JobUnblocked(job_id=made["second"], kind="second", queue="default")
    ends = {event.job_id: event.chain_id for event in heard if isinstance(event, ChainCompleted)}
    assert ends == {made["part"]: made["part"], made["aside"]: made["aside"], made["second"]: chain}
    assert len([event for event in heard if isinstance(event, JobCompleted)]) == 4


async def test_a_handler_that_waits_for_chains_is_told_as_blocked_and_as_unblocked(database_url: str) -> None:
    app = App()

    @app.kind()
    async def part() -> int:
        return 1

    @app.kind()
    async def whole(job: Job) -> list[int]:
        outputs = await job.blockers()
        if not outputs:
            raise job.wait_for([part.new()])
        return outputs

    heard = Heard(app)
    async with working(database_url, app) as running:
        job = await running.run("whole")
        assert job.output == [1]
    told = [type(event) for event in heard if isinstance(event, JobEvent) and event.job_id == job.id]
    assert told[:3] == [JobClaimed, JobStarted, JobBlocked]
    assert set(told[3:]) == {JobUnblocked, JobClaimed, JobStarted, JobCompleted}
    assert len(told) == 7


async def test_a_completion_whose_reply_was_lost_is_told_once(database: Database) -> None:
    heard = Heard(app := builtin_app(), JobCompleted)
    client, holdings, identity = Client(database), Holdings(), WorkerIdentity("w1")
    await client.enqueue_many([NewJob(kind="echo")] * 2)
    rows = await database.call("claim_jobs", identity.incarnation, "w1", batch=2)
    done, broken = (HeldJob(row, app.find("echo"), 0.0, 20.0, identity.incarnation) for row in rows)
    reserved = FragileCaller(database)
    reserved.lose_reply = {"complete_jobs", "fail_jobs"}
    settler = Settler(reserved, identity, holdings, Announcer(app.observers, identity))
    settler.outcomes.put(Completed(done, None))
    settler.outcomes.put(Failed(broken, {"type": "ValueError", "message": "no", "traceback": ""}))
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable):
            await settler.flush()
    await settler.flush()
    assert [
        (event.job_id, reserved.calls.count("complete_jobs")) for event in heard if isinstance(event, JobCompleted)
    ] == [(done.id, 2)]


async def test_failures_tell_whether_another_attempt_follows(database_url: str) -> None:
    app = App()

    @app.kind()
    async def work(how: str) -> None:
        raise Retry(0.01) if how == "retry" else Discard("no")

    heard = Heard(app, AttemptEvent)
    async with working(database_url, app, beside=[a_scheduler]) as running:
        await running.run("work", {"how": "retry"}, max_attempts=2)
        await until(lambda: JobFailed in heard.types())
        retried, failed = heard.one(JobRetried), heard.one(JobFailed)
        assert (retried.attempt, retried.error["type"], retried.ran_for > 0) == (1, "Retry", True)
        assert retried.run_at is not None
        assert (failed.attempt, failed.error["message"]) == (2, "the handler asked for a retry")
        heard.clear()
        await running.run("work", {"how": "discard"})
        await until(lambda: JobFailed in heard.types())
        assert JobRetried not in heard.types()


async def test_a_job_that_goes_back_tells_so(database_url: str) -> None:
    app = App()

    @app.kind()
    async def work(how: str) -> None:
        if how == "later":
            raise Reschedule(60.0, "not yet")
        await trio.sleep_forever()

    heard = Heard(app, AttemptEvent)
    async with working(database_url, app) as running:
        await running.in_state(await running.client.enqueue("work", {"how": "later"}), "scheduled")
        await until(lambda: JobRescheduled in heard.types())
        later = heard.one(JobRescheduled)
        assert (later.after, later.reason) == (60.0, "not yet")
        await running.client.enqueue("work", {"how": "never"})
        await until(lambda: heard.types().count(JobStarted) == 2)
    told = [each for each in heard.types() if each is not LeaseRenewed]  # which may come in between, and last
    assert told[-1] is JobReleased


async def test_leases_tell_their_renewal_and_their_loss(database_url: str) -> None:
    app = App()

    @app.kind()
    async def work() -> None:
        await trio.sleep_forever()

    heard = Heard(app, AttemptEvent)
    async with working(database_url, app, renew_seconds=0.2) as running:
        job_id = await running.client.enqueue("work")
        await until(lambda: LeaseRenewed in heard.types())
        assert next(event for event in heard if isinstance(event, LeaseRenewed)).lease == pytest.approx(60.0)
        await running.client.cancel(job_id)
        await until(lambda: JobLeaseLost in heard.types())
        assert heard.one(JobLeaseLost).reason == "cancelled"
    assert JobCompleted not in heard.types()


async def test_a_worker_tells_how_it_begins_and_ends(database_url: str) -> None:
    app = builtin_app()
    heard = Heard(app, WorkerEvent)
    async with working(database_url, app, queues=("mail",)) as running:
        await running.ready()
        running.worker.drain()
        running.worker.drain()
        await running.stopped()
    assert heard.types() == [WorkerStarted, WorkerReady, WorkerStopping, WorkerStopped]
    started = heard.one(WorkerStarted)
    assert (started.worker_id, started.queues, started.kinds, started.slots) == ("w1", ("mail",), ("dummy", "echo"), 3)
    assert started.incarnation == running.worker.parts.identity.incarnation


async def test_an_actor_that_loses_the_database_is_told_of(database_url: str) -> None:
    app = builtin_app()
    heard = Heard(app, WorkerError)
    async with working(database_url, app) as running:
        await running.ready()
        async with running.database.transaction() as transaction:
            await transaction.fetch("lock table leasehold.jobs in access exclusive mode")

            async def is_cut_off() -> bool:
                rows = await transaction.fetch(
                    "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock'"
                    " and application_name = 'test w1 dispatcher' and datname = current_database()"
                )
                return bool(rows)

            running.worker.parts.dispatcher.wake()
            await eventually(is_cut_off)
            await until(lambda: bool(heard))
        assert (await running.run("echo")).state == "completed"
    error = heard[0]
    assert isinstance(error, WorkerError)
    assert error.actor == "dispatcher"
    assert error.again_in is not None


async def test_a_subscriber_that_raises_or_is_slow_costs_no_job(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = builtin_app()

    def broken(event: Event) -> None:
        raise RuntimeError("no")

    app.subscribe(Event, broken)
    async with working(database_url, app) as running:
        for _ in range(3):
            assert (await running.run("echo")).state == "completed"
    assert caplog.text.count("a subscriber raised") == 1


async def test_the_reaper_tells_whom_it_took_a_job_from(database: Database) -> None:
    from leasehold.actors.upkeep.reaper import Reaper
    from leasehold.notify.switchboard import Switchboard

    app = builtin_app()
    heard = Heard(app)
    client = Client(database)
    job_id = await client.enqueue("echo")
    await database.call("claim_jobs", "00000000-0000-0000-0000-000000000001", "dead")
    await database.fetch("update leasehold.jobs set lease_expires_at = now() - interval '1 s'")
    await Reaper(database, Switchboard(), 1.0, app.observers).reap()
    assert heard == [JobReaped(job_id=job_id, attempt=1, worker_id="dead", queue="default", state="pending")]


async def test_a_client_tells_what_it_created_cancelled_and_had_run_again(database: Database) -> None:
    app = builtin_app()
    heard = Heard(app)
    client = Client(database, app=app)
    first = await client.enqueue("echo", queue="mail", idempotency_key="1")
    await client.enqueue("echo", queue="mail", idempotency_key="1")
    await client.cancel(first, "changed my mind")
    await client.retry(first)
    assert heard == [
        ChainCreated(chain_id=first, kind="echo", queue="mail"),
        JobCreated(job_id=first, kind="echo", queue="mail"),
        JobCancelled(job_id=first, was="pending", reason="changed my mind"),
        JobRequeued(job_id=first, state="pending"),
    ]


async def test_a_job_created_in_a_transaction_is_told_when_that_commits(database: Database) -> None:
    client, heard = Client(database), list[JobCreated]()
    client.subscribe(JobCreated, heard.append)
    async with database.transaction() as transaction:
        first = await client.enqueue("echo", connection=transaction)
        assert heard == []
    assert [event.job_id for event in heard] == [first]
    with suppress(ZeroDivisionError):
        async with database.transaction() as transaction:
            await client.enqueue("echo", connection=transaction)
            raise ZeroDivisionError
    assert len(heard) == 1


async def test_with_builtins_the_subscribers_of_an_app_hear_its_worker(database_url: str) -> None:
    from leasehold.app.registry import with_builtins

    app = App()
    heard = Heard(app, JobCompleted)
    async with working(database_url, with_builtins(app)) as running:
        await running.run("echo")
        await until(lambda: bool(heard))
