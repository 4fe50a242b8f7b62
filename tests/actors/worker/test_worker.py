from __future__ import annotations

import asyncio
import re
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest
import trio

from leasehold import checkpoint
from leasehold.app import App
from leasehold.app.registry import builtin_app
from leasehold.client import open_client
from leasehold.database import Database
from leasehold.jobs.endings import Discard, Reschedule, Retry, RetryPolicy
from leasehold.jobs.job import Job
from tests.support.sql_guards import expire
from tests.support.waiting import eventually, until
from tests.support.working import a_reaper, a_scheduler, without_renewals, working


async def test_an_idle_worker_runs_a_job_from_enqueue_to_output(database_url: str) -> None:
    async with working(database_url, builtin_app()) as running:
        await running.ready()
        job = await running.run("echo", {"to": "Ada"}, priority=3, metadata={"by": "test"})
        assert (job.state, job.output, job.attempt, job.worker_id) == ("completed", {"to": "Ada"}, 1, "w1")
        assert job.started_at is not None
        assert job.claimed_at is not None
        assert job.created_at <= job.claimed_at <= job.started_at
        await until(lambda: not running.worker.parts.holdings)


async def test_handlers_of_all_three_flavours_run_and_see_their_job(database_url: str) -> None:
    app = App()

    @app.kind()
    async def on_trio(job: Job, n: int) -> list[Any]:
        await trio.lowlevel.checkpoint()
        return [job.id, job.attempt, n + 1]

    @app.kind(runs="asyncio")
    async def on_asyncio(job: Job, n: int) -> list[Any]:
        await asyncio.sleep(0)
        return [job.id, job.attempt, n + 1]

    @app.kind()
    def in_a_thread(job: Job, n: int) -> list[Any]:
        assert threading.current_thread() is not threading.main_thread()
        checkpoint()
        return [job.id, job.attempt, n + 1]

    @app.kind(runs="asyncio")
    async def with_words_of_our_own(function: str, timeout: int, args: list[int]) -> list[Any]:
        return [function, timeout, args]

    async with working(database_url, app) as running:
        for kind in ("on_trio", "on_asyncio", "in_a_thread"):
            job = await running.run(kind, {"n": 1})
            assert job.output == [job.id, 1, 2], kind
        job = await running.run("with_words_of_our_own", {"function": "f", "timeout": 1, "args": [2]})
        assert job.output == ["f", 1, [2]]


async def test_handlers_may_enqueue_through_a_client_of_their_flavour(database_url: str) -> None:
    app = builtin_app()

    @app.kind()
    async def on_trio() -> int:
        async with open_client(database_url) as client:
            return await client.enqueue("echo")

    @app.kind(runs="asyncio")
    async def on_asyncio() -> int:
        async with open_client(database_url) as client:
            return await client.enqueue("echo")

    @app.kind()
    def in_a_thread() -> int:
        async def enqueue() -> int:
            async with open_client(database_url) as client:
                return await client.enqueue("echo")

        return asyncio.run(enqueue())

    async with working(database_url, app) as running:
        for kind in ("on_trio", "on_asyncio", "in_a_thread"):
            job = await running.run(kind)
            assert job.error is None
            assert (await running.finished(job.output)).state == "completed"


async def test_a_handler_may_ask_for_a_retry_a_later_run_or_the_end(database_url: str) -> None:
    app = App()

    @app.kind(retry=RetryPolicy(initial=3600))
    async def wishes(job: Job, wish: str) -> str:
        if wish == "end":
            raise Discard("never again")
        if job.attempt == 1:
            at = datetime.now(UTC) + timedelta(seconds=0.05)
            raise {
                "retry": Retry(timedelta(0)),
                "later": Reschedule(0.05, "not \x00 yet"),
                "then": Reschedule(at=at, reason="not before then"),
            }[wish]
        return f"attempt {job.attempt}"

    async with working(database_url, app, beside=[a_scheduler]) as running:
        retried = await running.run("wishes", {"wish": "retry"}, max_attempts=2)
        assert (retried.state, retried.output) == ("completed", "attempt 2")

        later = await running.run("wishes", {"wish": "later"}, max_attempts=1)
        assert (later.state, later.output) == ("completed", "attempt 2")
        moments = [(entry.event, entry.message) for entry in await running.client.jobs.timeline(later.id)]
        assert ("rescheduled", "not \ufffd yet") in moments

        then = await running.run("wishes", {"wish": "then"}, max_attempts=1)
        assert (then.state, then.output) == ("completed", "attempt 2")
        moments = [(entry.event, entry.message) for entry in await running.client.jobs.timeline(then.id)]
        assert ("rescheduled", "not before then") in moments

        ended = await running.run("wishes", {"wish": "end"})
        assert (ended.state, ended.attempt) == ("failed", 1)
        assert ended.error["message"] == "never again"


async def test_a_failed_attempt_is_tried_again_until_the_attempts_are_used_up(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = App()

    @app.kind(retry=RetryPolicy(initial=0), max_attempts=3)
    async def fragile(job: Job) -> None:
        raise ValueError(f"attempt {job.attempt}")

    async with working(database_url, app) as running:
        job = await running.finished(await running.client.enqueue(fragile.new()))
        assert (job.state, job.attempt, job.error["type"], job.error["message"]) == (
            "failed",
            3,
            "ValueError",
            "attempt 3",
        )
        assert "raise ValueError" in job.error["traceback"]
        failures = [entry for entry in await running.client.jobs.timeline(job.id) if entry.event == "attempt_failed"]
        for number, entry in enumerate(failures, start=1):
            assert re.fullmatch(
                rf"ValueError: attempt {number} \(.*test_worker\.py:\d+ in fragile\)", entry.message or ""
            )
    assert "failed for good with attempt 3: ValueError: attempt 3 (" in caplog.text


async def test_the_back_off_of_the_worker_is_that_of_kinds_without_their_own(database_url: str) -> None:
    app = App()

    @app.kind(max_attempts=3)
    async def hasty() -> None:
        raise ValueError

    settings: dict[str, Any] = {
        "retry_initial_seconds": 0.0,
        "retry_multiplier": 1.0,
        "retry_cap_seconds": 0.0,
        "retry_step_seconds": 1.0,
    }
    async with working(database_url, app, **settings) as running:
        assert running.worker.parts.identity.retry == RetryPolicy(initial=0, multiplier=1, cap=0, step=1)
        job = await running.run("hasty", max_attempts=3)
        assert (job.state, job.attempt) == ("failed", 3)


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


async def leak_a_cancellation() -> None:
    """Raise a Cancelled that belongs to a scope which is over."""
    leaked: list[BaseException] = []
    with trio.CancelScope() as scope:
        scope.cancel()
        try:
            await trio.lowlevel.checkpoint()
        except trio.Cancelled as error:
            leaked.append(error)
            raise
    raise leaked[0]


async def test_whatever_a_handler_raises_the_worker_lives(database_url: str) -> None:
    app = builtin_app()
    failures: dict[str, BaseException] = {
        "KeyboardInterrupt": KeyboardInterrupt(),
        "SystemExit": SystemExit(3),
        "GeneratorExit": GeneratorExit(),
        "BaseException": BaseException("base"),
        "BaseExceptionGroup": BaseExceptionGroup("many", [KeyboardInterrupt(), ValueError("one")]),
        "ExceptionGroup": ExceptionGroup("many", [ValueError("one"), OSError("two")]),
        "CancelledError": asyncio.CancelledError(),
        "Unprintable": Unprintable(),
        "RecursionError": RecursionError(),
        "MemoryError": MemoryError(),
        "StopIteration": StopIteration(),
        "StopAsyncIteration": StopAsyncIteration(),
    }

    async def in_coroutine(failure: str) -> None:
        if failure == "Cancelled":
            await leak_a_cancellation()
        raise failures[failure]

    def in_thread(failure: str) -> None:
        raise failures[failure]

    flavours: list[Any] = ["trio", "asyncio", "thread"]
    for runs in flavours:
        app.kind(runs, runs=runs, max_attempts=1)(in_thread if runs == "thread" else in_coroutine)
    async with working(database_url, app) as running:
        for runs, name in [*product(flavours, failures), ("trio", "Cancelled")]:
            job = await running.run(runs, {"failure": name}, max_attempts=1)
            expected = {"StopIteration": "RuntimeError"}.get(name, name)
            assert (runs, name, job.state, job.error["type"]) == (runs, name, "failed", expected)
        assert (await running.run("echo")).state == "completed"
        assert not running.ended.is_set()


async def test_a_handler_that_swallows_its_cancellation_harms_nobody(database_url: str) -> None:
    app = builtin_app()

    @app.kind(timeout=0.05)
    async def stubborn() -> str:
        with suppress(trio.Cancelled):
            await trio.sleep_forever()
        return "went on"

    async with working(database_url, app, slots=1) as running:
        assert (await running.run("stubborn", max_attempts=1)).output == "went on"
        assert (await running.run("echo")).state == "completed"


async def test_an_output_that_cannot_be_kept_fails_its_job_and_no_other(database_url: str) -> None:
    app = builtin_app()
    outputs: dict[str, Any] = {
        "nan": float("nan"),
        "nul": "\x00",
        "surrogate": "\udfff",
        "object": object(),
        "large": "x" * 1_100_000,
    }

    @app.kind()
    async def bad(which: str) -> Any:
        return outputs[which]

    async with working(database_url, app) as running:
        bad_ids = [await running.client.enqueue("bad", {"which": which}) for which in outputs]
        good_ids = [await running.client.enqueue("echo") for _ in range(5)]
        for job_id in bad_ids:
            job = await running.finished(job_id)
            assert (job.state, job.error["type"], job.attempt) == ("failed", "InvalidOutput", 1)
        for job_id in good_ids:
            assert (await running.finished(job_id)).state == "completed"


NESTED = "select repeat('[', 3000) || repeat(']', 3000)"
WRITTEN_BY_SQL = {
    "wrong type": """'{"n": "one"}', null""",
    "missing": "'{}', null",
    "unknown": """'{"n": 1, "m": 2}', null""",
    "a list": "'[1]', null",
    "a string": """'"x"', null""",
    "json null": "'null', null",
    "out of range": """'{"n": 1e5000}', null""",
    "deep": f"""jsonb_build_object('n', ({NESTED})::jsonb), null""",
    "metadata out of range": """'{"n": 1}', '{"n": 1e5000}'""",
}


async def test_args_that_somebody_wrote_by_sql_and_do_not_fit_fail_their_job_cleanly(database_url: str) -> None:
    app = builtin_app()

    @app.kind()
    async def counts(job: Job, n: int) -> int:
        return n

    async with working(database_url, app) as running:
        for name, values in WRITTEN_BY_SQL.items():
            rows = await running.database.fetch(
                "insert into leasehold.jobs (created_at, run_at, state, kind, queue, max_attempts, args, metadata)"
                f" values (now(), now(), 'pending', 'counts', 'default', 1, {values}) returning id"
            )
            job_id: int = rows[0]["id"]
            await running.client.queues.wake()

            async def state(job_id: int = job_id) -> str | None:
                return next(
                    (
                        r["state"]
                        for r in await running.database.fetch(
                            "select state from leasehold.finished_jobs where id = $1", job_id
                        )
                    ),
                    None,
                )

            assert await eventually(state) == "failed", name
        assert (await running.run("counts", {"n": 1})).output == 1
        assert not running.ended.is_set()


async def test_a_kind_that_nobody_registered_stays_pending_and_holds_up_nobody(database_url: str) -> None:
    async with working(database_url, builtin_app()) as running:
        strange = await running.client.enqueue("'; drop table leasehold.jobs; --")
        assert (await running.run("echo")).state == "completed"
        assert (await running.client.get(strange)).state == "pending"
        assert (await running.client.get(strange)).attempt == 0


async def test_a_default_handler_runs_every_other_kind(database_url: str, caplog: pytest.LogCaptureFixture) -> None:
    app = builtin_app()

    @app.default_handler
    async def anything(job: Job, args: dict[str, Any]) -> list[Any]:
        if args.get("fail"):
            raise Discard("no")
        return [job.kind, args]

    async with working(database_url, app) as running:
        assert (await running.run("Ünknown 'kind'", {"a": 1})).output == ["Ünknown 'kind'", {"a": 1}]
        assert (await running.run("echo", {"a": 1})).output == {"a": 1}
        await running.run("third", {"fail": True})
    assert "of kind third failed for good with attempt 1: Discard: no (" in caplog.text


async def test_a_worker_serves_its_queues_only(database_url: str) -> None:
    async with (
        working(database_url, builtin_app(), queues=("mail", "it's")) as running,
        working(database_url, builtin_app(), queues=("slow",), worker_id="w2") as other,
    ):
        elsewhere = await running.client.enqueue("echo", queue="default")
        assert (await running.run("echo", queue="mail")).worker_id == "w1"
        assert (await running.run("echo", queue="it's")).worker_id == "w1"
        assert (await other.run("echo", queue="slow")).worker_id == "w2"
        assert (await running.client.get(elsewhere)).state == "pending"


async def test_without_notifications_jobs_are_found_by_polling(database_url: str) -> None:
    async with working(database_url, builtin_app(), notify=False, poll_seconds=0.2) as running:
        await running.ready()
        assert (await running.run("echo")).state == "completed"
        assert running.worker.parts.dispatcher.statistics().wake_ups == 0


async def test_cancelling_a_running_job_cancels_its_handler_in_every_flavour(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = App()
    events: list[str] = []

    @app.kind()
    async def on_trio() -> None:
        events.append("started")
        try:
            await trio.sleep_forever()
        finally:
            events.append("cancelled")

    @app.kind(runs="asyncio")
    async def on_asyncio() -> None:
        events.append("started")
        try:
            await asyncio.Event().wait()
        finally:
            events.append("cancelled")

    @app.kind()
    def in_a_thread() -> None:
        events.append("started")
        pause = threading.Event()
        try:
            while not pause.wait(0.005):
                checkpoint()
        finally:
            events.append("cancelled")

    async with working(database_url, app) as running:
        for kind in ("on_trio", "on_asyncio", "in_a_thread"):
            events.clear()
            job_id = await running.client.enqueue(kind)
            await until(lambda: events == ["started"])
            await running.client.cancel(job_id)
            await until(lambda: events == ["started", "cancelled"])
            assert (await running.client.get(job_id)).state == "cancelled"
        await until(lambda: not running.worker.parts.holdings)
        assert running.worker.parts.settler.statistics().refused == 0
    assert caplog.text.count("lease lost (cancelled), the handler was cancelled") == 3


async def test_without_notifications_a_cancelled_job_is_noticed_at_its_next_renewal(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = App()

    @app.kind()
    async def endless() -> None:
        await trio.sleep_forever()

    async with working(database_url, app, notify=False, lease_seconds=60.0, poll_seconds=0.1) as running:
        job_id = await running.client.enqueue("endless")
        await running.in_state(job_id, "running")
        await running.client.cancel(job_id)
        await until(lambda: not running.worker.parts.holdings)
    assert "lease lost (cancelled), the handler was cancelled" in caplog.text


async def test_draining_lets_running_jobs_finish_hands_back_the_rest_and_claims_nothing_more(database_url: str) -> None:
    app = builtin_app()
    started, go_on = trio.Event(), trio.Event()

    @app.kind()
    async def long() -> str:
        started.set()
        await go_on.wait()
        return "finished"

    async with working(database_url, app, slots=1) as running:
        job_id = await running.client.enqueue("long")
        await started.wait()
        running.worker.drain()
        after = await running.client.enqueue("echo")

        async def is_draining() -> bool:
            return [worker.state for worker in await running.client.workers.list()] == ["draining"]

        await eventually(is_draining)
        assert not running.ended.is_set()
        go_on.set()
        await running.stopped()
        assert (await running.client.get(job_id)).output == "finished"
        assert (await running.client.get(after)).attempt == 0
        assert await running.client.workers.list() == []


async def test_an_interruption_cancels_what_runs_and_hands_it_back_without_counting_the_attempt(
    database_url: str,
) -> None:
    app = App()
    started = trio.Event()

    @app.kind()
    async def endless() -> None:
        started.set()
        await trio.sleep_forever()

    async with working(database_url, app, slots=1) as running:
        job_id = await running.client.enqueue("endless", max_attempts=1)
        await started.wait()
        running.worker.interrupt()
        await running.stopped()
        job = await running.client.get(job_id)
        assert (job.state, job.attempt) == ("pending", 1)
        assert [entry.event for entry in await running.client.jobs.timeline(job_id)][-1] == "released"
    async with working(database_url, builtin_app()) as other:
        assert (await other.client.get(job_id)).state == "pending"


async def test_a_worker_that_dies_unheard_is_replaced_by_another_through_the_reaper(
    database_url: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = App()
    attempts: list[int] = []

    @app.kind()
    async def once_slow(job: Job) -> str:
        attempts.append(job.attempt)
        if job.attempt == 1:
            await trio.sleep_forever()
        return "done"

    async with working(database_url, app, beside=[a_reaper], **without_renewals(monkeypatch)) as running:
        job_id = await running.client.enqueue("once_slow")
        await until(lambda: attempts == [1])
        # The lease is pulled from under the handler, as if this process had been away for long.
        await expire(database, job_id)
        job = await running.finished(job_id)
        assert (job.state, job.output, job.attempt) == ("completed", "done", 2)
        assert attempts == [1, 2]
        await until(lambda: not running.worker.parts.holdings)
