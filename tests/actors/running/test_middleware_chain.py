from __future__ import annotations

import asyncio
import contextvars
import os
from typing import Any

import trio

from leasehold import App, Attempt, CallNext, Job
from leasehold.app.registry import with_builtins
from leasehold.jobs.endings import Reschedule
from leasehold.jobs.job_host import NO_CONTEXT
from leasehold.jobs.middleware import Middleware
from tests.support.process_app import app as process_app
from tests.support.working import a_scheduler, working


class Session:
    def __init__(self, name: str) -> None:
        self.name = name


def noting(name: str, notes: list[str]) -> Middleware:
    async def middleware(attempt: Attempt, call_next: CallNext) -> Any:
        notes.append(f"{name} in")
        try:
            return await call_next()
        finally:
            notes.append(f"{name} out")

    return middleware


async def test_middlewares_go_around_the_handler_those_of_the_app_outside_those_of_the_kind(database_url: str) -> None:
    notes: list[str] = []
    app = App(middlewares=[noting("first", notes)])

    @app.kind(middlewares=[noting("kind", notes)])
    async def work() -> str:
        notes.append("work")
        return "done"

    app.middleware(noting("second", notes))
    async with working(database_url, app) as running:
        assert (await running.run("work")).output == "done"
    assert notes == ["first in", "second in", "kind in", "work", "kind out", "second out", "first out"]


async def test_a_merged_app_keeps_its_middlewares_inside_those_of_the_one_it_was_merged_into(database_url: str) -> None:
    notes: list[str] = []
    inner, outer = App(middlewares=[noting("inner", notes)]), App(middlewares=[noting("outer", notes)])

    @inner.kind(middlewares=[noting("kind", notes)])
    async def within() -> None: ...

    @outer.kind()
    async def without() -> None: ...

    outer.merge(inner)
    async with working(database_url, with_builtins(outer)) as running:
        await running.run("within")
        await running.run("without")
        await running.run("echo")
    assert [note for note in notes if note.endswith("in")] == ["outer in", "inner in", "kind in", "outer in"]


async def test_a_default_handler_has_the_middlewares_of_its_app(database_url: str) -> None:
    notes: list[str] = []
    app = App(middlewares=[noting("app", notes)])

    @app.default_handler
    async def anything(job: Job, args: dict[str, Any]) -> str:
        return job.kind

    async with working(database_url, with_builtins(app)) as running:
        assert (await running.run("whatever")).output == "whatever"
    assert notes == ["app in", "app out"]


FLAVOURS: list[Any] = ["trio", "asyncio", "thread"]


async def test_every_flavour_of_handler_finds_what_a_middleware_put_there_for_it(database_url: str) -> None:
    app = App()
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")

    @app.middleware
    async def with_session(attempt: Attempt, call_next: CallNext) -> Any:
        await trio.lowlevel.checkpoint()
        attempt.context[Session] = Session(f"of job {attempt.job.id}, attempt {attempt.job.attempt}")
        variable.set("seen")
        return [attempt.args["n"], await call_next()]

    async def in_coroutine(job: Job, n: int) -> list[Any]:
        if job.kind == "asyncio":
            await asyncio.sleep(0)
        return [job.context[Session].name, variable.get(), n]

    def in_thread(job: Job, n: int) -> list[Any]:
        return [job.context[Session].name, variable.get(), n]

    for runs in FLAVOURS:
        app.kind(runs, runs=runs)(in_thread if runs == "thread" else in_coroutine)
    async with working(database_url, app) as running:
        for runs in FLAVOURS:
            job = await running.run(runs, {"n": 3})
            assert job.output == [3, [f"of job {job.id}, attempt 1", "seen", 3]]


async def test_the_middlewares_of_a_handler_in_a_process_run_in_the_worker_and_see_its_output(
    database_url: str,
) -> None:
    app, seen = App(), list[Any]()

    @app.middleware
    async def around(attempt: Attempt, call_next: CallNext) -> Any:
        attempt.context[Session] = Session("does not travel")
        output = await call_next()
        seen.extend((os.getpid(), output))
        return output

    app.merge(process_app)
    async with working(database_url, app, slots=1) as running:
        its = (await running.run("pid")).output
    assert seen == [os.getpid(), its]
    assert its != os.getpid()


async def test_each_attempt_has_a_context_of_its_own_and_a_job_without_middlewares_an_empty_one(
    database_url: str,
) -> None:
    app, seen = App(), list[Any]()

    async def keeping(attempt: Attempt, call_next: CallNext) -> Any:
        seen.append(attempt.context.get(Session))
        attempt.context[Session] = Session("mine")
        return await call_next()

    @app.kind(middlewares=[keeping])
    async def with_context(job: Job) -> bool:
        return Session in job.context

    @app.kind()
    async def without_context(job: Job) -> bool:
        return job.context is NO_CONTEXT and Session in job.context

    async with working(database_url, app, slots=1) as running:
        assert [(await running.run("with_context")).output for _ in range(2)] == [True, True]
        assert (await running.run("without_context")).output is False
    assert seen == [None, None]


async def test_a_middleware_may_answer_instead_of_the_handler_change_the_answer_or_call_it_twice(
    database_url: str,
) -> None:
    app = App()

    @app.middleware
    async def meddling(attempt: Attempt, call_next: CallNext) -> Any:
        match attempt.args["how"]:
            case "instead":
                return "cached"
            case "after":
                return f"<{await call_next()}>"
            case _:
                return [await call_next(), await call_next()]

    calls = [0]

    @app.kind()
    async def work(how: str) -> int | str | list[int]:
        calls[0] += 1
        return calls[0]

    @app.kind()
    async def promises_more(how: str) -> int:
        return 1

    async with working(database_url, app) as running:
        assert (await running.run("promises_more", {"how": "instead"})).error["type"] == "InvalidOutput"
        assert (await running.run("work", {"how": "instead"})).output == "cached"
        assert (await running.run("work", {"how": "after"})).output == "<1>"
        assert (await running.run("work", {"how": "twice"})).output == [2, 3]


async def test_what_a_middleware_raises_ends_the_attempt_and_what_the_handler_raises_reaches_it(
    database_url: str,
) -> None:
    app, caught = App(), list[str]()

    @app.middleware
    async def watching(attempt: Attempt, call_next: CallNext) -> Any:
        try:
            return await call_next()
        except ValueError as error:
            caught.append(str(error))
            raise RuntimeError("translated") from error

    @app.kind()
    async def fails() -> None:
        raise ValueError("from the handler")

    async def later(attempt: Attempt, call_next: CallNext) -> Any:
        if attempt.job.attempt == 1:
            raise Reschedule(0.01, "not now")
        return await call_next()

    @app.kind(middlewares=[later])
    async def works(job: Job) -> int:
        return job.attempt

    async with working(database_url, app, beside=[a_scheduler]) as running:
        job = await running.run("fails", max_attempts=1)
        assert (job.state, job.error["type"], job.error["message"]) == ("failed", "RuntimeError", "translated")
        assert (await running.run("works")).output == 2
    assert caught == ["from the handler"]


async def test_the_timeout_of_a_kind_covers_its_middlewares_and_they_see_the_cancellation(database_url: str) -> None:
    app, notes = App(), list[str]()
    app.middleware(noting("outer", notes))

    async def sleepy(attempt: Attempt, call_next: CallNext) -> Any:
        await trio.sleep_forever()

    @app.kind(timeout=0.05, middlewares=[sleepy])
    async def never() -> None:
        raise AssertionError

    async with working(database_url, app) as running:
        job = await running.run("never", max_attempts=1)
        assert (job.state, job.error["type"]) == ("failed", "TimedOut")
    assert notes == ["outer in", "outer out"]
