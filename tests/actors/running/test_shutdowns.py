from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import msgspec
import pytest
import trio

from leasehold import checkpoint
from leasehold.actors.attempts.held_job import SHUTDOWN, HeldJob
from leasehold.actors.attempts.outcome import Blocked, Completed, Continued, Failed, Outcome, Released, Rescheduled
from leasehold.actors.processes.pool import ProcessPool
from leasehold.concurrency.asyncio_border import open_loop
from leasehold.jobs.endings import ContinueWith, Discard, Reschedule, Retry, WaitFor
from leasehold.jobs.kind import Runs
from leasehold.jobs.middleware import Attempt, CallNext, Middleware
from leasehold.jobs.new_job import NewJob
from tests.support.held import held_job
from tests.support.process_app import app as process_app
from tests.support.slots import Running, a_kind
from tests.support.waiting import until

IN_A_THREAD = Event()


async def shut_down(running: Running, held: HeldJob, begun: Callable[[], bool] = lambda: True) -> list[Outcome]:
    """What is settled where the worker ends while the handler of this job runs, and as soon as it has `begun`."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(running.run, held)
        await until(lambda: held.scope is not None and begun())
        held.lose(SHUTDOWN)
    return running.settled


async def under_trio() -> None:
    try:
        await trio.sleep_forever()
    except trio.Cancelled as error:
        raise RuntimeError("the program ended with -9") from error


async def under_asyncio() -> None:
    try:
        await asyncio.get_running_loop().create_future()
    except asyncio.CancelledError as error:
        raise RuntimeError("the program ended with -9") from error


def in_a_thread() -> None:
    IN_A_THREAD.set()
    try:
        while True:
            checkpoint()
    except BaseException as error:
        raise RuntimeError("the program ended with -9") from error


async def beside_its_cancellation() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep_forever)
        await under_trio()


@pytest.mark.parametrize(
    ("handler", "runs", "error"),
    [
        (under_trio, "trio", "RuntimeError: the program ended with -9"),
        (under_asyncio, "asyncio", "RuntimeError: the program ended with -9"),
        (in_a_thread, "thread", "RuntimeError: the program ended with -9"),
        (beside_its_cancellation, "trio", "ExceptionGroup: "),
    ],
)
async def test_a_handler_that_turns_a_shutdown_into_an_error_of_its_own_is_handed_back_and_the_log_has_the_error(
    handler: Any, runs: Runs, error: str, caplog: pytest.LogCaptureFixture
) -> None:
    held = held_job(7, kind=a_kind(handler, runs), max_attempts=1)
    begun = IN_A_THREAD.is_set if runs == "thread" else lambda: True
    async with open_loop():
        assert await shut_down(Running(), held, begun) == [Released(held)]
    [record] = [each for each in caplog.records if "handed back" in each.message]
    assert record.message.startswith(
        f"job 7 attempt 1: handed back, because the worker ends; its handler was cancelled and ended with {error}"
    )
    assert record.message.endswith(")"), "the place"
    assert "the program ended with -9" in vars(record)["error"]["traceback"]


async def test_a_middleware_that_turns_the_end_of_a_process_into_an_error_of_its_own_is_handed_back_too(
    tmp_path: Path,
) -> None:
    async def translating(_attempt: Attempt, call_next: CallNext) -> Any:
        try:
            return await call_next()
        except BaseException as error:
            raise RuntimeError("the process is gone") from error

    def only_that(_kind: object) -> tuple[Middleware, ...]:
        return (translating,)

    place = tmp_path / "pids"
    held = held_job(7, kind=process_app.find("busy"), args=msgspec.json.encode({"place": str(place)}).decode())
    async with ProcessPool(1) as pool:
        running = Running(processes=pool, middlewares=only_that)
        assert await shut_down(running, held, place.exists) == [Released(held)]


async def interrupted(end: object) -> tuple[HeldJob, Outcome]:
    """What comes of a handler that is cancelled by a shutdown and then ends like this."""

    async def goes_on() -> Any:
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            if isinstance(end, Exception):
                raise end from None
        return end

    held = held_job(kind=a_kind(goes_on))
    [outcome] = await shut_down(Running(), held)
    return held, outcome


async def test_a_handler_that_returns_although_a_shutdown_cancelled_it_keeps_its_outcome() -> None:
    held, outcome = await interrupted("done")
    assert outcome == Completed(held, '"done"')


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (Discard("no"), Failed),
        (Retry(5), Failed),
        (Reschedule(5), Rescheduled),
        (WaitFor([7]), Blocked),
        (ContinueWith(NewJob(kind="echo")), Continued),
    ],
    ids=lambda each: getattr(each, "__name__", type(each).__name__),
)
async def test_what_a_handler_asks_for_as_a_shutdown_cancels_it_is_done(end: object, expected: type) -> None:
    assert isinstance((await interrupted(end))[1], expected)


async def test_an_output_that_cannot_be_kept_does_not_fail_a_job_that_a_shutdown_interrupts() -> None:
    held, outcome = await interrupted(object())
    assert outcome == Released(held)


async def test_a_handler_that_leaves_a_cancel_scope_open_as_a_shutdown_cancels_it_is_handed_back() -> None:
    async def careless() -> None:
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            trio.CancelScope().__enter__()

    held = held_job(kind=a_kind(careless), max_attempts=1)
    assert await shut_down(Running(), held) == [Released(held)]
