from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import greenlet
import pytest
import trio
import trio.lowlevel

from leasehold.actors.attempts.outcome import Failed
from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.running.settler import Outcomes
from leasehold.actors.running.slot import Slot, SlotContext
from leasehold.actors.running.wrong_flavour import call_in_thread, wrong_flavour
from leasehold.database import Database
from leasehold.jobs.job import Job
from leasehold.jobs.kind import CheckedKindOptions, Kind, Runs
from leasehold.jobs.middleware import Attempt, CallNext, Middleware
from tests.support.held import held_job, line_of


async def sleeps_in_asyncio(job: Job) -> None:
    await asyncio.sleep(0)


async def times_out_in_asyncio(job: Job) -> None:
    async with asyncio.timeout(60):
        await asyncio.sleep(0)


async def begins_a_task_group(job: Job) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(0))


async def awaits_a_future(job: Job) -> None:
    await asyncio.get_running_loop().create_future()


async def goes_into_a_thread_with_asyncio(job: Job) -> None:
    await asyncio.to_thread(int)


async def waits_for_an_event_of_asyncio(job: Job) -> None:
    await asyncio.Event().wait()


async def fetches_with_aiohttp(job: Job) -> None:
    async with aiohttp.ClientSession() as session:
        await session.get("http://127.0.0.1:1")


async def sleeps_in_trio(job: Job) -> None:
    await trio.lowlevel.checkpoint()


async def opens_a_nursery(job: Job) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep, 0)


async def sets_a_time_limit_of_trio(job: Job) -> None:
    with trio.move_on_after(60):
        await trio.lowlevel.checkpoint()


async def goes_into_a_thread_with_trio(job: Job) -> None:
    await trio.to_thread.run_sync(int)


async def waits_for_an_event_of_trio(job: Job) -> None:
    await trio.Event().wait()


def in_a_thread(job: Job) -> None:
    """Does nothing."""


def returns_a_coroutine(job: Job) -> Any:
    return sleeps_in_asyncio(job)


def of(function: Any, runs: Runs) -> Kind[..., Any]:
    return Kind("send", function, runs, CheckedKindOptions())


async def outcome_of(kind: Kind[..., Any], *middlewares: Middleware) -> Failed:
    backlog, outcomes = line_of(held_job(kind=kind, args="{}")), Outcomes()
    threads = trio.CapacityLimiter(1)
    await Slot(SlotContext(WorkerIdentity("w1"), threads, backlog, outcomes, lambda _kind: middlewares)).run()
    (failed,) = outcomes.first(2)
    assert isinstance(failed, Failed)
    return failed


UNDER_TRIO = [
    sleeps_in_asyncio,
    times_out_in_asyncio,
    begins_a_task_group,
    awaits_a_future,
    goes_into_a_thread_with_asyncio,
    waits_for_an_event_of_asyncio,
    fetches_with_aiohttp,
]
UNDER_ASYNCIO = [
    sleeps_in_trio,
    opens_a_nursery,
    sets_a_time_limit_of_trio,
    goes_into_a_thread_with_trio,
    waits_for_an_event_of_trio,
]


@pytest.mark.parametrize("function", UNDER_TRIO)
async def test_a_handler_that_awaits_asyncio_under_trio_fails_for_good_and_is_told_what_to_add(
    function: Any, database: Database
) -> None:
    failed = await outcome_of(of(function, "trio"))
    assert (failed.discard, failed.error["type"]) == (True, "WrongFlavour")
    message = "handler send runs under trio and awaits a library written for asyncio: add runs='asyncio' to its kind, "
    assert failed.error["message"].startswith(message + "@app.kind(runs='asyncio'), or to the app, App(runs='asyncio')")
    assert function.__name__ in failed.error["place"]


@pytest.mark.parametrize("function", UNDER_ASYNCIO)
async def test_a_handler_that_awaits_trio_under_asyncio_is_told_so_and_breaks_nothing(
    function: Any, database: Database
) -> None:
    failed = await outcome_of(of(function, "asyncio"))
    assert (failed.discard, failed.error["type"]) == (True, "WrongFlavour")
    assert "runs under asyncio and awaits a library written for trio: add runs='trio'" in failed.error["message"]
    assert (await database.fetch("select 1 as one"))[0]["one"] == 1


async def has_asyncio_sleep(attempt: Attempt, call_next: CallNext) -> Any:
    await asyncio.sleep(0)
    return await call_next()


async def has_a_time_limit_of_asyncio(attempt: Attempt, call_next: CallNext) -> Any:
    async with asyncio.timeout(5):
        return await call_next()


async def has_asyncio_in_a_nursery(attempt: Attempt, call_next: CallNext) -> Any:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(asyncio.sleep, 0)
        return await call_next()


async def passes_on(attempt: Attempt, call_next: CallNext) -> Any:
    return await call_next()


async def has_words_of_its_own(attempt: Attempt, call_next: CallNext) -> Any:
    try:
        async with trio.open_nursery():
            return await call_next()
    except BaseException as error:
        raise ValueError("translated") from error


def asks_for_a_loop_in_its_thread(job: Job) -> None:
    asyncio.get_running_loop()


MIDDLEWARES: list[Middleware] = [has_asyncio_sleep, has_a_time_limit_of_asyncio, has_asyncio_in_a_nursery]


@pytest.mark.parametrize("middleware", MIDDLEWARES)
@pytest.mark.parametrize(
    ("handler", "runs"), [(sleeps_in_asyncio, "asyncio"), (opens_a_nursery, "trio"), (in_a_thread, "thread")]
)
async def test_a_middleware_that_awaits_asyncio_fails_the_job_for_good_and_the_error_says_that_it_runs_under_trio(
    middleware: Any, handler: Any, runs: Runs, database: Database
) -> None:
    failed = await outcome_of(of(handler, runs), passes_on, middleware)
    assert (failed.discard, failed.error["type"]) == (True, "WrongFlavour")
    message = (
        "a middleware around handler send awaits a library written for asyncio: middlewares run under trio, whatever "
    )
    assert failed.error["message"].startswith(message)
    assert "write trio there (trio.sleep, trio.fail_after)" in failed.error["message"]
    assert middleware.__name__ in failed.error["place"]


@pytest.mark.parametrize("middleware", [passes_on, has_words_of_its_own])
@pytest.mark.parametrize("function", [sleeps_in_asyncio, begins_a_task_group])
async def test_the_advice_for_a_handler_stays_whatever_its_middlewares_make_of_its_error(
    middleware: Middleware, function: Any, database: Database
) -> None:
    failed = await outcome_of(of(function, "trio"), middleware)
    assert (failed.discard, failed.error["type"]) == (True, "WrongFlavour")
    assert failed.error["message"].startswith("handler send runs under trio and awaits a library written for asyncio: ")


async def test_a_loop_that_a_handler_misses_in_its_thread_is_not_laid_at_the_door_of_its_middlewares() -> None:
    failed = await outcome_of(of(asks_for_a_loop_in_its_thread, "thread"), passes_on)
    assert (failed.discard, failed.error["type"]) == (False, "RuntimeError")


async def test_a_plain_function_that_returns_a_coroutine_fails_for_good_and_is_told_so() -> None:
    failed = await outcome_of(of(returns_a_coroutine, "thread"))
    assert (failed.discard, failed.error["type"]) == (True, "WrongFlavour")
    assert "handler send is a plain function and returned a coroutine" in failed.error["message"]


def test_other_errors_and_other_flavours_are_left_as_they_are() -> None:
    strange = TypeError("trio.run received unrecognized yield message <Future pending>")
    assert wrong_flavour(of(sleeps_in_asyncio, "trio"), ValueError("no running event loop")) is None
    assert wrong_flavour(of(in_a_thread, "thread"), strange) is None
    without_a_loop = RuntimeError("There is no current event loop in thread 'MainThread'.")  # of Python 3.14
    assert wrong_flavour(of(sleeps_in_asyncio, "trio"), without_a_loop) is not None
    group = ExceptionGroup("a nursery", [ExceptionGroup("another", [strange])])
    assert wrong_flavour(of(sleeps_in_asyncio, "trio"), group) is not None
    wrapped = ConnectionError("the library wraps it")
    wrapped.__cause__ = strange
    assert wrong_flavour(of(sleeps_in_asyncio, "trio"), wrapped) is not None


def test_an_error_raised_while_another_is_handled_is_looked_through_unless_it_is_said_to_stand_alone() -> None:
    raised = ValueError("wrapped")
    raised.__context__ = TypeError("trio.run received unrecognized yield message <Future pending>")
    assert wrong_flavour(of(sleeps_in_asyncio, "trio"), raised) is not None
    raised.__suppress_context__ = True
    assert wrong_flavour(of(sleeps_in_asyncio, "trio"), raised) is None


def test_a_loop_that_a_handler_leaves_running_in_its_thread_is_not_there_for_the_next() -> None:
    left, parked = asyncio.new_event_loop(), list[greenlet.greenlet]()

    outside = greenlet.getcurrent()

    def leaves_a_loop_running() -> None:
        async def parks() -> None:
            outside.switch()

        parked.append(greenlet.greenlet(lambda: left.run_until_complete(parks())))
        parked[0].switch()
        assert asyncio._get_running_loop() is left

    def runs_one() -> int:
        return asyncio.run(asyncio.sleep(0, 7))

    try:
        call_in_thread(of(leaves_a_loop_running, "thread"), leaves_a_loop_running)
        assert call_in_thread(of(runs_one, "thread"), runs_one) == 7
    finally:
        parked[0].throw()
        left.close()


def test_an_error_that_was_raised_from_itself_is_looked_at_once() -> None:
    error = ValueError("raised from itself")
    error.__cause__ = error
    assert wrong_flavour(of(sleeps_in_asyncio, "trio"), error) is None
