from __future__ import annotations

from threading import current_thread, main_thread
from time import monotonic
from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from leasehold.actors.attempts.held_job import SHUTDOWN, HeldJob
from leasehold.actors.attempts.outcome import Blocked, Completed, Failed, Outcome, Released, Rescheduled
from leasehold.actors.attempts.run_clock import DEADLINE_PASSED, TOO_LATE
from leasehold.actors.running.large_values import LargeValues
from leasehold.jobs.endings import Discard, Reschedule, Retry, WaitFor
from leasehold.jobs.job import Job
from leasehold.payloads.claim_checks import START
from tests.support.held import free_kind, held_job
from tests.support.slots import Running, a_kind
from tests.support.waiting import until


async def test_a_job_that_was_lost_before_it_started_is_not_run() -> None:
    async def never(job: Job, args: dict[str, Any]) -> None:
        raise AssertionError

    running = Running()
    held = held_job(kind=free_kind(never))
    held.lose("cancelled")
    await running.run(held)
    assert (running.settled, held.started) == ([], None)


async def test_a_job_that_starts_after_its_trust_window_is_handed_back_unstarted() -> None:
    async def never(job: Job, args: dict[str, Any]) -> None:
        raise AssertionError

    running = Running()
    held = held_job(kind=free_kind(never))
    held.trusted_until = monotonic()
    await running.run(held)
    assert (running.settled, held.started) == ([Released(held)], None)


@pytest.mark.parametrize(("late_by", "max_attempts", "handed_back"), [(0.1, 2, True), (5.0, 2, False), (0.1, 1, False)])
async def test_a_handler_whose_lease_could_not_be_renewed_is_handed_back_unless_the_process_stood_still(
    late_by: float, max_attempts: int, handed_back: bool
) -> None:
    async def endless(job: Job, args: dict[str, Any]) -> None:
        await trio.sleep_forever()

    running = Running()
    held = held_job(7, kind=free_kind(endless), max_attempts=max_attempts)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(running.run, held)
        await until(lambda: running.slot.held is held)
        held.lapse(held.trusted_until + late_by)
    assert running.settled == ([Released(held)] if handed_back else [])
    assert (held.lost, held.is_left) == ("error", not handed_back)
    assert held.id in running.holdings


@pytest.mark.parametrize(("reason", "settled"), [("taken_by_another_worker", False), (SHUTDOWN, True)])
async def test_a_job_lost_while_it_runs_settles_nothing_unless_it_is_handed_back(reason: str, settled: bool) -> None:
    async def endless(job: Job, args: dict[str, Any]) -> None:
        await trio.sleep_forever()

    running = Running()
    held = held_job(7, kind=free_kind(endless))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(running.run, held)
        await until(lambda: running.slot.held is held)
        held.lose(reason)
    assert running.settled == ([Released(held)] if settled else [])
    assert (running.slot.held, held.id in running.holdings) == (None, settled)


async def test_a_handler_that_raises_beside_its_cancellation_settles_nothing_either() -> None:
    async def messy(job: Job, args: dict[str, Any]) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            try:
                await trio.sleep_forever()
            finally:
                raise ValueError("on the way out")

    running = Running()
    held = held_job(kind=free_kind(messy))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(running.run, held)
        await until(lambda: held.scope is not None)
        held.lose("cancelled")
    assert running.settled == []


async def test_a_timeout_fails_the_attempt(autojump_clock: MockClock) -> None:
    async def endless() -> None:
        await trio.sleep_forever()

    running = Running()
    await running.run(held_job(kind=a_kind(endless, timeout=30.0)))
    assert trio.current_time() == 30
    [outcome] = running.settled
    assert isinstance(outcome, Failed)
    assert outcome.error["type"] == "TimedOut"
    assert not outcome.discard


async def test_a_handler_does_not_begin_after_the_deadline_of_its_job() -> None:
    async def begin() -> str:
        return "begun"

    running = Running()
    late, early = (
        held_job(seconds, kind=a_kind(begin), extras=f'{{"deadline_in": {seconds}}}') for seconds in (-1, 600)
    )
    await running.run(late, early)
    assert running.settled == [Failed(late, TOO_LATE, discard=True), Completed(early, '"begun"')]


async def test_what_a_handler_raises_while_it_runs_out_of_time_is_what_is_told(autojump_clock: MockClock) -> None:
    async def complains() -> None:
        try:
            await trio.sleep_forever()
        except trio.Cancelled as error:
            raise RuntimeError("no time to clean up") from error

    running = Running()
    await running.run(held_job(kind=a_kind(complains, timeout=1.0)))
    [outcome] = running.settled
    assert isinstance(outcome, Failed)
    assert outcome.error["message"] == "no time to clean up"


async def test_a_cancellation_from_outside_goes_through_the_slot(autojump_clock: MockClock) -> None:
    async def endless() -> None:
        await trio.sleep_forever()

    running = Running()
    with trio.move_on_after(1) as scope:
        await running.run(held_job(kind=a_kind(endless)))
    assert scope.cancelled_caught
    assert running.settled == []
    assert running.slot.held is None


async def test_a_handler_without_the_job_is_called_with_its_args_alone() -> None:
    async def add(a: int, b: int = 2) -> int:
        return a + b

    running = Running()
    held = held_job(kind=a_kind(add), args='{"a": 1}')
    await running.run(held)
    assert running.settled == [Completed(held, "3")]
    assert held.started is not None


async def test_a_handler_that_leaves_a_cancel_scope_open_fails_and_the_jobs_after_it_do_not() -> None:
    async def careless(job: Job, args: dict[str, Any]) -> None:
        trio.CancelScope(deadline=trio.current_time()).__enter__()

    async def decent(job: Job, args: dict[str, Any]) -> None:
        await trio.lowlevel.checkpoint()

    running = Running()
    jobs = [held_job(number, kind=free_kind(careless if number == 2 else decent)) for number in (1, 2, 3, 4)]
    await running.run(*jobs)
    assert [type(outcome) for outcome in running.settled] == [Completed, Failed, Completed, Completed]
    (failed,) = (outcome for outcome in running.settled if isinstance(outcome, Failed))
    assert failed.discard
    assert "Cancel scope stack corrupted" in failed.error["message"]


async def test_jobs_run_after_one_another_whatever_became_of_the_one_before(autojump_clock: MockClock) -> None:
    running = Running()

    async def gives_up(job: Job, args: dict[str, Any]) -> None:
        running.held().lose(SHUTDOWN)
        await trio.sleep_forever()

    async def deaf(job: Job, args: dict[str, Any]) -> None:
        running.held().lose("cancelled")

    async def endless() -> None:
        await trio.sleep_forever()

    async def quick() -> int:
        await trio.sleep(1)
        return 1

    kinds = [
        free_kind(gives_up),
        a_kind(quick),
        free_kind(deaf),
        a_kind(quick),
        a_kind(endless, timeout=5.0),
        a_kind(quick),
    ]
    await running.run(*(held_job(number, kind=kind) for number, kind in enumerate(kinds)))
    assert [(type(outcome), outcome.held.id) for outcome in running.settled] == [
        (Released, 0),
        (Completed, 1),
        (Completed, 3),
        (Failed, 4),
        (Completed, 5),
    ]


async def test_a_job_that_was_lost_in_the_backlog_is_passed_over() -> None:
    async def quick() -> None: ...

    running = Running()
    jobs = [held_job(number, kind=a_kind(quick)) for number in (1, 2, 3)]
    jobs[1].lose("cancelled")
    await running.run(*jobs)
    assert [outcome.held.id for outcome in running.settled] == [1, 3]


async def test_a_slot_asks_for_more_jobs_every_few_jobs_and_when_there_is_none() -> None:
    async def quick() -> None: ...

    running = Running()
    left: list[int] = []
    running.backlog.subscribe(lambda: left.append(len(running.backlog)))
    await running.run(*(held_job(number, kind=a_kind(quick)) for number in range(20)))
    assert left == [11, 1, 0]


async def test_a_dismissed_slot_ends_after_a_few_jobs_although_there_are_more() -> None:
    async def quick() -> None: ...

    running = Running()
    running.backlog.dismiss(1)
    await running.run(*(held_job(number, kind=a_kind(quick)) for number in range(20)))
    assert (len(running.settled), len(running.backlog)) == (9, 11)


async def test_a_job_whose_large_args_are_fetched_when_the_worker_stops_is_handed_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def never() -> None:
        raise AssertionError

    async def stop(_values: LargeValues, held: HeldJob) -> None:
        held.lose(SHUTDOWN)

    monkeypatch.setattr(LargeValues, "fetch_args", stop)
    running = Running()
    held = held_job(kind=a_kind(never), args=START)
    await running.run(held)
    assert running.settled == [Released(held)]


async def test_a_slot_that_is_cancelled_while_it_waits_for_a_job_ends() -> None:
    running = Running()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(running.slot.run)
        await until(lambda: running.backlog.idle_slots == 1)
        nursery.cancel_scope.cancel()
    assert running.settled == []


async def stubborn(end: BaseException | str, monkeypatch: pytest.MonkeyPatch) -> tuple[HeldJob, Outcome]:
    """What comes of a handler that goes on beyond the deadline of its job and then ends like this."""
    held: HeldJob

    async def returns_late() -> Any:
        assert held.clock is not None
        monkeypatch.setattr(type(held.clock), "expired", "deadline")
        if isinstance(end, BaseException):
            raise end
        return end

    running = Running()
    held = held_job(kind=a_kind(returns_late), extras='{"deadline_in": 600}')
    await running.run(held)
    [outcome] = running.settled
    return held, outcome


async def test_a_handler_that_comes_back_after_the_deadline_has_failed_its_job(monkeypatch: pytest.MonkeyPatch) -> None:
    held, outcome = await stubborn("done", monkeypatch)
    assert outcome == Failed(held, DEADLINE_PASSED, discard=True)


async def test_what_it_raises_after_the_deadline_is_told_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    _, outcome = await stubborn(Reschedule(60, "the bank sleeps"), monkeypatch)
    assert isinstance(outcome, Failed)
    assert (outcome.discard, outcome.error["type"]) == (True, "DeadlineExceeded")
    assert outcome.error["message"] == (
        "the deadline of the job passed while its handler ran; it raised Reschedule: the bank sleeps"
    )


@pytest.mark.parametrize(
    ("error", "expected"),
    [(Discard("no"), Failed), (Reschedule(5), Rescheduled), (WaitFor([7]), Blocked), (Retry(5), Failed)],
)
async def test_what_a_child_task_says_is_said_however_deep_in_groups(error: Exception, expected: type) -> None:
    async def child() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            raise error

    async def parent() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(child)

    running = Running()
    await running.run(held_job(kind=a_kind(parent)))
    [outcome] = running.settled
    assert isinstance(outcome, expected)
    if isinstance(outcome, Failed):
        assert (outcome.error["type"], outcome.discard, outcome.retry_in) == (
            type(error).__name__,
            isinstance(error, Discard),
            5 if isinstance(error, Retry) else None,
        )


@pytest.mark.parametrize("errors", [[ValueError("a")], [Discard("a"), ValueError("b")], [Discard("a"), Discard("b")]])
async def test_any_other_group_is_a_failure_told_as_it_is(errors: list[Exception]) -> None:
    async def grouped() -> None:
        raise ExceptionGroup("some", errors)

    running = Running()
    await running.run(held_job(kind=a_kind(grouped)))
    [outcome] = running.settled
    assert isinstance(outcome, Failed)
    assert (outcome.error["type"], outcome.discard) == ("ExceptionGroup", False)


async def test_an_async_handler_runs_under_trio_and_a_plain_one_in_a_thread() -> None:
    async def under_trio(word: str) -> str:
        await trio.lowlevel.checkpoint()
        return word * 2

    def in_a_thread(word: str) -> bool:
        return word == "a" and current_thread() is not main_thread()

    running = Running()
    jobs = [
        held_job(number, kind=a_kind(each), args='{"word": "a"}')
        for number, each in enumerate((under_trio, in_a_thread))
    ]
    await running.run(*jobs)
    assert running.settled == [Completed(jobs[0], '"aa"'), Completed(jobs[1], "true")]


async def test_a_kind_that_no_flavour_runs_fails_instead_of_completing_unrun() -> None:
    async def handler() -> None: ...

    kind = a_kind(handler)
    kind.runs = cast("Any", "asynco")
    running = Running()
    await running.run(held_job(kind=kind))
    (failed,) = running.settled
    assert isinstance(failed, Failed)
    assert failed.error["message"] == "kind handler: there is no way to run it as 'asynco'"
