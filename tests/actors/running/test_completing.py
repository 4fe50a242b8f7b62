"""Handlers that complete their job in a transaction of their own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from itertools import product
from typing import Any

import pytest
import trio

from leasehold import App, Client, Job, NewJob, RetryPolicy
from leasehold.errors import BadInput, LeaseLost, QueryRefused, TransactionEnded
from leasehold.jobs.middleware import Attempt, CallNext
from tests.support.codecs import set_codecs
from tests.support.waiting import eventually, until
from tests.support.working import Working, without_renewals, working

FLAVOURS: list[Any] = ["trio", "asyncio"]
TABLE = "create table public.paid (n int, attempt int)"
TAKEN = (  # as by the reaper, but without telling the holder
    "update leasehold.jobs set state = 'pending', incarnation = null, lease_expires_at = null, worker_id = null,"
    " claimed_at = null, started_at = null, heartbeat_at = null"
)
PAY = "insert into public.paid values ($1, $2)"


@asynccontextmanager
async def paying(database_url: str, app: App, **settings: Any) -> AsyncGenerator[Working]:
    """A worker, and the user's own table."""
    async with working(database_url, app, **settings) as running:
        await running.database.execute(TABLE)
        yield running


async def asleep(runs: str, seconds: float) -> None:
    """Wait in the handler's flavour."""
    if runs == "trio":
        await trio.sleep(seconds)
    else:
        await asyncio.sleep(seconds)


async def paid(running: Working, number: int | None = None) -> list[tuple[int, int]]:
    """The user's rows, all or those of a number."""
    rows = "select n, attempt from public.paid where n = coalesce($1, n) order by attempt"
    return [tuple(row) for row in await running.database.fetch(rows, number)]


def an_app(handler: Callable[..., Any], runs: Any = None, name: str = "pay", **options: Any) -> App:
    app = App()
    app.kind(name, runs=runs, **options)(handler)
    return app


def in_each_flavour(handler: Callable[..., Any], **options: Any) -> App:
    """A kind for each event loop, called as it is."""
    app = App()
    for runs in FLAVOURS:
        app.kind(runs, runs=runs, **options)(handler)
    return app


async def test_the_users_rows_the_output_and_the_next_jobs_commit_together(database_url: str) -> None:
    async def pay(job: Job, n: int) -> str:
        async with job.prepare() as tx:
            await tx.execute(PAY, n, 0)
        async with job.complete() as tx:
            await tx.execute(PAY, n, job.attempt)
            job.start(NewJob(kind="mail", queue="elsewhere"))
        return f"paid {n}"

    async with paying(database_url, in_each_flavour(pay), queues=["default"]) as running:
        for number, runs in enumerate(FLAVOURS, 1):
            job = await running.run(runs, {"n": number})
            assert (job.state, job.output, await paid(running, number)) == (
                "completed", f"paid {number}", [(number, 0), (number, 1)],
            )  # fmt: skip
            assert [each.state for each in await running.client.jobs.list(kind="mail")] == ["pending"] * number
            timeline = [entry.event for entry in await running.client.jobs.timeline(job.id)]
            assert timeline == ["created", "claimed", "started", "completed"]
            assert len(await running.database.fetch("select from leasehold.finished_jobs")) == number
            await until(lambda: not running.worker.parts.holdings)
            assert running.worker.parts.settler.statistics().completed == number
            assert running.worker.parts.settler.statistics().refused == 0


async def test_a_handler_in_a_thread_has_the_same_without_await(database_url: str) -> None:
    def pay(job: Job, n: int) -> None:
        with job.prepare() as tx:
            tx.execute(PAY, n, 0)
        with job.complete() as tx:
            [row] = tx.fetch("select count(*) as there from public.paid")
            with suppress(ZeroDivisionError), tx.savepoint():
                tx.execute(PAY, n, 99)
                raise ZeroDivisionError
            tx.execute(PAY, n, job.attempt)
            tx.output = row["there"]

    async with paying(database_url, an_app(pay)) as running:
        job = await running.run("pay", {"n": 5})
        assert (job.state, job.output, await paid(running)) == ("completed", 1, [(5, 0), (5, 1)])


async def test_a_handler_under_asyncio_has_the_asyncpg_connection_itself(database_url: str) -> None:
    async def pay(job: Job, n: int) -> None:
        await asyncio.sleep(0)
        async with job.complete() as tx:
            await tx.connection.executemany(PAY, [(n, 1), (n + 1, 2)])
            tx.output = await tx.connection.fetchval("select count(*) from public.paid")

    async with paying(database_url, an_app(pay, "asyncio")) as running:
        job = await running.run("pay", {"n": 5})
        assert (job.output, await paid(running)) == (2, [(5, 1), (6, 2)])


async def test_an_atomic_handler_is_one_transaction_from_its_first_line_to_its_output(database_url: str) -> None:
    async def pay(job: Job, n: int) -> int:
        await job.transaction.execute(PAY, n, job.attempt)
        if job.attempt == 1:
            raise ValueError("on the way")
        return n

    def pay_in_thread(job: Job, n: int) -> int:
        job.transaction_sync.execute(PAY, n, job.attempt)
        if job.attempt == 1:
            raise ValueError("on the way")
        return n

    options: dict[str, Any] = {"mode": "atomic", "retry": RetryPolicy(initial=3600)}
    app = in_each_flavour(pay, **options)
    app.kind("thread", **options)(pay_in_thread)
    async with paying(database_url, app) as running:
        for number, runs in enumerate([*FLAVOURS, "thread"]):
            job_id = await running.client.enqueue(runs, {"n": number})
            await running.in_state(job_id, "scheduled")
            assert await paid(running, number) == []
            await running.client.retry(job_id)
            job = await running.finished(job_id)
            assert (job.output, await paid(running, number)) == (number, [(number, 2)])


ERRORS = {
    "before": "ValueError",
    "in preparation": "ValueError",
    "in the block": "ValueError",
    "after the block": "ValueError",
    "poisoned": "QueryRefused",
    "poisoned and swallowed": "QueryRefused",
    "poisoned, then raised after the block": "ValueError",
    "unencodable output": "InvalidOutput",
    "contradiction": "BadInput",
    "refused continuation": "InvalidContinuation",
}


async def test_whatever_raises_undoes_the_completion_and_the_failure_is_recorded(database_url: str) -> None:
    async def pay(job: Job, throw: str) -> Any:
        def raise_at(place: str) -> None:
            if throw == place:
                raise ValueError(place)

        raise_at("before")
        async with job.prepare() as tx:
            await tx.execute(PAY, job.id, 0)
            raise_at("in preparation")
        async with job.complete() as tx:
            await tx.execute(PAY, job.id, job.attempt)
            raise_at("in the block")
            if throw == "poisoned":
                await tx.execute("insert into public.nowhere values (1)")
            if throw.startswith("poisoned"):
                with pytest.raises(QueryRefused):
                    await tx.execute("insert into public.nowhere values (1)")
            if throw == "contradiction":
                tx.output = 1
            if throw == "refused continuation":
                tx.continue_with(NewJob(kind="next", delay=float("nan")))
        raise_at("after the block")
        if throw.endswith("raised after the block"):
            raise ValueError
        if throw == "unencodable output":
            return object()
        return 2 if throw == "contradiction" else None

    async with paying(database_url, in_each_flavour(pay)) as running:
        for runs, (throw, error) in product(FLAVOURS, ERRORS.items()):
            job = await running.run(runs, {"throw": throw}, max_attempts=1)
            assert (job.state, job.error["type"], job.output) == ("failed", error, None), job.error
            kept = await running.database.fetch("select attempt from public.paid where n = $1", job.id)
            assert kept == ([] if throw in ("before", "in preparation") else [(0,)])
            finished = await running.database.fetch("select 1 from leasehold.finished_jobs where id = $1", job.id)
            assert finished == [(1,)]


async def test_a_lease_lost_before_the_commit_rolls_everything_back(database_url: str) -> None:
    asked: set[int] = set()
    taken: set[int] = set()

    async def until_taken(job: Job) -> None:
        asked.add(job.id)
        while job.id not in taken:
            await asleep(job.kind, 0.01)

    async def pay(job: Job, place: str) -> str:
        if job.attempt > 1:
            return "somebody else"
        async with job.complete() as tx:
            await tx.execute(PAY, job.id, job.attempt)
            if place == "in the block":
                await until_taken(job)
        if place == "after the block":
            await until_taken(job)
        return "the first"

    app = in_each_flavour(pay)
    async with paying(database_url, app, lease_seconds=60.0, renew_seconds=20.0, notify=False) as running:
        for runs, place in product(FLAVOURS, ["in the block", "after the block"]):
            job_id = await running.client.enqueue(runs, {"place": place})
            await until(lambda job_id=job_id: job_id in asked)
            await running.database.execute(TAKEN)
            taken.add(job_id)
            job = await running.finished(job_id)
            assert (job.output, job.attempt, await paid(running)) == ("somebody else", 2, [])


async def test_a_preparation_of_a_lost_lease_keeps_nothing(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[BaseException] = []

    async def pay(job: Job, n: int) -> str:
        if job.attempt > 1:
            return "somebody else"
        try:
            async with job.prepare() as tx:
                await tx.execute(PAY, n, job.attempt)
                await running.database.execute(TAKEN)
        except (LeaseLost, trio.Cancelled) as error:  # its own worker may have claimed the job again by then
            raised.append(error)
            raise
        return "the first"

    async with paying(database_url, an_app(pay), **without_renewals(monkeypatch)) as running:
        job = await running.run("pay", {"n": 5})
        assert (job.output, job.attempt, await paid(running)) == ("somebody else", 2, [])
        await until(lambda: len(raised) == 1)


async def nobody_is_in_a_transaction(running: Working) -> None:
    async def probe() -> bool:
        rows = await running.database.fetch(
            "select 1 from pg_stat_activity where application_name like '%handlers' and state <> 'idle'"
            " and datname = current_database()"
        )
        return not rows

    await eventually(probe)


async def test_a_timeout_amid_the_completion_rolls_back_and_fails_the_attempt(database_url: str) -> None:
    async def atomic(job: Job) -> None:
        await job.transaction.execute(PAY, 1, job.attempt)
        await job.transaction.fetch("select pg_sleep(30)")

    async def block(job: Job) -> None:
        async with job.complete() as tx:
            await tx.execute(PAY, 1, job.attempt)
            await tx.fetch("select pg_sleep(30)")

    def atomic_in_thread(job: Job) -> None:
        job.transaction_sync.execute(PAY, 1, job.attempt)
        job.transaction_sync.fetch("select pg_sleep(30)")

    def block_in_thread(job: Job) -> None:
        with job.complete() as tx:
            tx.execute(PAY, 1, job.attempt)
            tx.fetch("select pg_sleep(30)")

    app = App()
    for runs in FLAVOURS:
        app.kind(f"atomic in {runs}", runs=runs, timeout=0.3, mode="atomic")(atomic)
        app.kind(f"a block in {runs}", runs=runs, timeout=0.3)(block)
    app.kind("atomic in a thread", timeout=0.3, mode="atomic")(atomic_in_thread)
    app.kind("a block in a thread", timeout=0.3)(block_in_thread)
    async with paying(database_url, app) as running:
        for kind in app:
            job = await running.run(kind.name, max_attempts=1)
            assert (job.state, job.error["type"], await paid(running)) == ("failed", "TimedOut", [])
            await nobody_is_in_a_transaction(running)


async def test_a_shutdown_between_the_block_and_the_return_rolls_back_and_hands_the_job_back(database_url: str) -> None:
    reached: set[str] = set()

    async def pay(job: Job, n: int) -> None:
        async with job.complete() as tx:
            await tx.execute(PAY, n, job.attempt)
        reached.add(job.kind)
        await asleep(job.kind, 3600)

    async with paying(database_url, in_each_flavour(pay)) as running:
        job_ids = [await running.client.enqueue(runs, {"n": 5}) for runs in FLAVOURS]
        await until(lambda: len(reached) == len(FLAVOURS))
        running.worker.interrupt()
        await running.stopped()
        assert [(await running.client.get(each)).state for each in job_ids] == ["pending", "pending"]
        assert await paid(running) == []


async def test_one_transaction_at_a_time_and_nothing_after_the_completion(database_url: str) -> None:
    complaints: list[str] = []

    async def complaint(action: Awaitable[Any]) -> None:
        with pytest.raises(BadInput) as caught:
            await action
        complaints.append(str(caught.value))

    async def pay(job: Job) -> None:
        async with job.prepare() as first:
            await complaint(job.complete().__aenter__())
        await complaint(first.fetch("select 1"))
        async with job.complete() as tx:
            await complaint(job.prepare().__aenter__())
            with pytest.raises(BadInput, match="runs='asyncio'"):
                _ = tx.connection
            tx.output = 1
            with pytest.raises(BadInput, match="one or the other"):
                tx.continue_with(NewJob(kind="next"))
        await complaint(tx.fetch("select 1"))
        await complaint(job.complete().__aenter__())
        with pytest.raises(BadInput, match="mode='atomic'"):
            _ = job.transaction

    async with paying(database_url, an_app(pay)) as running:
        job = await running.run("pay", max_attempts=1)
        assert (job.state, job.output) == ("completed", 1), job.error
        assert [each.split(";")[0].split(":")[0] for each in complaints] == [
            "a transaction of this job is open already",
            "this transaction is over",
            "this attempt has its completion already",
            "this transaction is over",
            "this attempt has its completion already",
        ]


async def test_a_block_that_raised_can_be_tried_again(database_url: str) -> None:
    async def pay(job: Job, n: int) -> str:
        with suppress(ZeroDivisionError):
            async with job.complete() as tx:
                await tx.execute(PAY, n, 98)
                raise ZeroDivisionError
        async with job.complete() as tx:
            await tx.execute(PAY, n, 99)
        return "at last"

    async with paying(database_url, an_app(pay)) as running:
        job = await running.run("pay", {"n": 1})
        assert (job.output, await paid(running)) == ("at last", [(1, 99)])


async def test_jobs_that_a_handler_leaves_behind_cannot_complete_later(database_url: str) -> None:
    left: list[Job] = []

    async def pay(job: Job) -> None:
        left.append(job)
        async with job.prepare():
            pass

    async with paying(database_url, an_app(pay)) as running:
        await running.run("pay")
        await until(lambda: not running.worker.parts.holdings)
        with pytest.raises(LeaseLost, match="has ended"):
            await left[0].complete().__aenter__()


async def test_a_worker_opens_no_connection_for_handlers_that_want_none(database_url: str) -> None:
    async def pay(job: Job) -> None: ...

    async with paying(database_url, an_app(pay)) as running:
        await running.run("pay")
        rows = await running.database.fetch(
            "select 1 from pg_stat_activity where application_name like '%handlers' and datname = current_database()"
        )
        assert rows == []


async def test_a_lease_is_renewed_while_an_atomic_handler_is_in_its_transaction(database_url: str) -> None:
    async def pay(job: Job, n: int) -> str:
        await job.transaction.execute(PAY, n, job.attempt)
        await until(lambda: running.worker.parts.keeper.statistics().renewed > 2)
        return "kept"

    async with paying(database_url, an_app(pay, mode="atomic"), renew_seconds=0.2) as running:
        job = await running.run("pay", {"n": 1})
        assert (job.output, job.attempt, await paid(running)) == ("kept", 1, [(1, 1)])


async def test_what_waits_for_the_commit_happens_after_it_and_not_when_it_was_undone(database_url: str) -> None:
    happened: list[tuple[int, str]] = []

    async def seen_by_others(items: list[str]) -> None:
        await asleep(items[0], 0)  # in the handler's own flavour
        happened.append((attempts[-1], "completed"))

    attempts: list[int] = []

    async def pay(job: Job, n: int) -> None:
        attempts.append(job.attempt)
        async with job.prepare() as tx:
            tx.hooks.after_commit(lambda: happened.append((job.attempt, "prepared")))
        async with job.complete() as tx:
            await tx.execute(PAY, n, job.attempt)
            tx.hooks.add("paid", job.kind, seen_by_others)
            await running.client.enqueue("mail", queue="elsewhere", connection=tx)
            with suppress(ZeroDivisionError):
                async with tx.savepoint():
                    tx.hooks.after_commit(lambda: happened.append((job.attempt, "never")))
                    raise ZeroDivisionError
        if job.attempt == 1:
            raise ValueError

    app = in_each_flavour(pay, retry=RetryPolicy(initial=0))
    async with paying(database_url, app, queues=["default"]) as running:
        for number, runs in enumerate(FLAVOURS, 1):
            happened.clear()
            job = await running.run(runs, {"n": 1})
            await until(lambda: not running.worker.parts.holdings)
            assert (job.state, job.attempt) == ("completed", 2)
            assert happened == [(1, "prepared"), (2, "prepared"), (2, "completed")]
            assert len(await running.client.jobs.list(kind="mail")) == number


async def test_what_a_middleware_leaves_for_the_commit_runs_under_trio_whatever_the_handler_does(
    database_url: str,
) -> None:
    happened: list[str] = []

    async def tell() -> None:
        await trio.lowlevel.checkpoint()
        happened.append("told")

    async def around(attempt: Attempt, call_next: CallNext) -> Any:
        async with attempt.job.prepare() as tx:
            tx.hooks.after_commit(tell)
        return await call_next()

    async def pay(n: int) -> int:
        return n

    app = in_each_flavour(pay, middlewares=[around])
    async with paying(database_url, app) as running:
        for runs in FLAVOURS:
            happened.clear()
            assert (await running.run(runs, {"n": 1})).output == 1
            assert happened == ["told"]


async def test_a_middleware_that_raises_after_its_handler_undoes_the_completion(database_url: str) -> None:
    app = App()

    @app.middleware
    async def suspicious(attempt: Attempt, call_next: CallNext) -> Any:
        await call_next()
        raise ValueError("not like this")

    @app.kind()
    async def pay(job: Job, n: int) -> None:
        async with job.complete() as tx:
            await tx.execute(PAY, n, job.attempt)

    async with paying(database_url, app) as running:
        job = await running.run("pay", {"n": 1}, max_attempts=1)
        assert (job.state, job.error["message"], await paid(running)) == ("failed", "not like this", [])


async def test_a_timeout_of_the_job_itself_goes_over_that_of_its_kind(database_url: str) -> None:
    async def pay(job: Job) -> None:
        await trio.sleep_forever()

    async with paying(database_url, an_app(pay, timeout=600.0)) as running:
        job = await running.run("pay", timeout=0.1, max_attempts=1)
        assert (job.state, job.error["type"]) == ("failed", "TimedOut")


async def test_a_job_cancelled_amid_its_completion_is_cancelled_and_keeps_nothing(database_url: str) -> None:
    reached: set[int] = set()

    async def pay(job: Job, n: int) -> None:
        async with job.complete() as tx:
            await tx.execute(PAY, n, job.attempt)
            reached.add(job.id)
            await asleep(job.kind, 3600)

    async with paying(database_url, in_each_flavour(pay)) as running:
        for runs in FLAVOURS:
            job_id = await running.client.enqueue(runs, {"n": 1})
            await until(lambda job_id=job_id: job_id in reached)
            await running.client.cancel(job_id)
            assert ((await running.finished(job_id)).state, await paid(running)) == ("cancelled", [])
            await until(lambda: not running.worker.parts.holdings)
            await nobody_is_in_a_transaction(running)


async def test_sql_that_ends_the_transaction_of_a_job_fails_the_attempt(database_url: str) -> None:
    async def atomic(job: Job, sql: str) -> None:
        await job.transaction.execute(PAY, 1, 1)
        await job.transaction.execute(sql)

    async def block(job: Job, sql: str) -> None:
        async with job.complete() if job.kind.startswith("complete") else job.prepare() as tx:
            await tx.execute(PAY, 1, 1)
            with suppress(TransactionEnded):  # noticed again, when it is to be committed
                await tx.execute(sql)

    def atomic_in_thread(job: Job, sql: str) -> None:
        job.transaction_sync.execute(PAY, 1, 1)
        job.transaction_sync.execute(sql)

    def block_in_thread(job: Job, sql: str) -> None:
        with job.complete() if job.kind.startswith("complete") else job.prepare() as tx:
            tx.execute(PAY, 1, 1)
            tx.execute(sql)

    app = App()
    for runs in (*FLAVOURS, "thread"):
        app.kind(f"atomic in {runs}", runs=runs, mode="atomic")(atomic_in_thread if runs == "thread" else atomic)
        for how in ("complete", "prepare"):
            app.kind(f"{how} in {runs}", runs=runs)(block_in_thread if runs == "thread" else block)
    async with paying(database_url, app, slots=1) as running:
        for number, kind in enumerate(app):
            for sql in ("rollback", "rollback; begin"):
                job = await running.run(kind.name, {"sql": sql}, max_attempts=1)
                assert (job.state, job.error["type"]) == ("failed", "TransactionEnded"), job.error
                assert await paid(running) == [(1, 1)] * number
            job = await running.run(
                kind.name, {"sql": "savepoint x; rollback to x; create temp table if not exists t ()"}
            )
            assert (job.state, await paid(running)) == ("completed", [(1, 1)] * (number + 1)), job.error


async def test_what_was_made_for_a_thread_is_refused_under_an_event_loop_and_the_other_way_round(
    database_url: str,
) -> None:
    async def pay(job: Job) -> None:
        with pytest.raises(BadInput, match="`async with job"), job.complete():
            raise AssertionError
        with pytest.raises(BadInput, match="`await job"):
            job.blockers_sync()
        with pytest.raises(BadInput, match="`await job"):
            _ = job.transaction_sync
        with ThreadPoolExecutor(1) as own:
            own.submit(in_a_thread_of_its_own, job).result()

    def in_a_thread_of_its_own(job: Job) -> None:
        with pytest.raises(BadInput, match="thread that a handler"), job.complete():
            raise AssertionError

    async def complete(job: Job) -> None:
        async with job.complete():
            raise AssertionError

    def pay_in_thread(job: Job) -> None:
        for run in (lambda: asyncio.run(complete(job)), lambda: trio.run(complete, job)):
            with pytest.raises(BadInput, match="event loop of the worker"):
                run()
        with job.complete() as tx:
            tx.output = "here"

    app = an_app(pay, "asyncio", "pay")
    app.kind("pay_in_thread")(pay_in_thread)
    async with paying(database_url, app) as running:
        job = await running.run("pay", max_attempts=1)
        assert job.state == "completed", job.error
        job = await running.run("pay_in_thread", max_attempts=1)
        assert (job.state, job.output) == ("completed", "here"), job.error


async def test_codecs_of_a_handler_read_nothing_of_ours_and_end_with_its_attempt(database_url: str) -> None:
    app = App()
    seen: list[object] = []
    document = {"text": '"5"'}

    @app.kind("first")
    async def first() -> dict[str, str]:  # pyright: ignore[reportUnusedFunction]
        return document

    @app.kind("second", runs="asyncio")
    async def second(job: Job, text: str, codecs: bool) -> dict[str, str]:  # pyright: ignore[reportUnusedFunction]
        async with job.complete() as tx:
            if codecs:
                await set_codecs(tx.connection)
            seen.append((text, await job.blockers(), await tx.connection.fetchval("select jsonb '[1]'")))
            job.progress(0.5)
            await Client(tx).enqueue("unknown", document, connection=tx)
        return document

    async with working(database_url, app, slots=1) as running:
        before = await running.client.enqueue("first")
        for codecs in (True, False):
            job = NewJob[Any](kind="second", args={**document, "codecs": codecs}, blockers=[before])
            record = await running.finished(await running.client.enqueue(job))
            assert (record.state, record.output, record.error) == ("completed", document, None), str(record.error)
        made = await running.database.fetch("select args::text from leasehold.jobs where kind = 'unknown'")
    assert [row["args"] for row in made] == ['{"text": "\\"5\\""}'] * 2
    assert seen == [('"5"', [document], [1]), ('"5"', [document], "[1]")]
