"""The slots of a worker between its two lines."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import trio
import trio.testing

from leasehold.actors.attempts.held_job import Backlog, HeldJob
from leasehold.actors.attempts.outcome import Outcome, Released
from leasehold.actors.identity import WorkerIdentity, WorkerMode
from leasehold.actors.running.crew import Crew
from leasehold.actors.running.settler import MOST_WAITING, Outcomes
from leasehold.actors.running.slot import Roster, SlotContext
from leasehold.jobs.job import Job
from tests.support.held import free_kind, held_job
from tests.support.waiting import until


class Running:
    """A crew at work; nobody takes its outcomes."""

    def __init__(self, slots: int) -> None:
        self.mode, self.roster, self.backlog, self.outcomes = WorkerMode(slots), Roster(), Backlog(), Outcomes()
        context = SlotContext(
            WorkerIdentity("w1"),
            trio.CapacityLimiter(slots),
            self.backlog,
            self.outcomes,
            mode=self.mode,
            roster=self.roster,
        )
        self.crew = Crew(context)
        self.go = trio.Event()

    @property
    def settled(self) -> list[Outcome]:
        return self.outcomes.first(MOST_WAITING + 2)

    def job(self, job_id: int = 1) -> HeldJob:
        """A job that runs until `go` is set."""

        async def handler(job: Job, args: dict[str, Any]) -> None:
            await self.go.wait()

        return held_job(job_id, kind=free_kind(handler))


@asynccontextmanager
async def a_crew(slots: int) -> AsyncGenerator[Running]:
    running = Running(slots)
    async with trio.open_nursery() as nursery:
        running.crew.begin(nursery)
        await until(lambda: running.backlog.idle_slots == slots)
        yield running
        running.go.set()
        running.backlog.close()


async def test_as_many_jobs_run_as_there_are_slots() -> None:
    async with a_crew(2) as running:
        running.backlog.extend([running.job(number) for number in (1, 2, 3)])
        await until(lambda: len(list(running.roster.running())) == 2)
        assert (len(running.backlog), running.roster.begun) == (1, 2)
    assert {outcome.held.id for outcome in running.settled} == {1, 2, 3}
    assert running.roster.slots == {}


async def test_a_crew_that_grows_starts_slots_and_one_that_shrinks_lets_idle_ones_go() -> None:
    async with a_crew(1) as running:
        assert running.crew.scale(3) == 1
        await until(lambda: running.backlog.idle_slots == 3)
        assert running.crew.scale(1) == 3
        await until(lambda: len(running.roster.slots) == 1)
        assert running.mode.slots == 1


async def test_a_busy_slot_that_is_to_go_ends_with_its_job_and_may_be_kept_until_then() -> None:
    async with a_crew(2) as running:
        running.backlog.extend([running.job(1), running.job(2)])
        await until(lambda: len(list(running.roster.running())) == 2)
        running.crew.scale(1)
        running.crew.scale(2)
        running.go.set()
        await until(lambda: running.backlog.idle_slots == 2)
        assert len(running.roster.slots) == 2


async def test_no_job_starts_while_the_settler_has_no_room_for_its_outcome() -> None:
    async with a_crew(1) as running:
        running.go.set()
        for number in range(MOST_WAITING):
            running.outcomes.put(Released(held_job(number)))
        running.backlog.extend([running.job(1), running.job(2)])
        await until(lambda: running.outcomes.is_crowded)
        await trio.testing.wait_all_tasks_blocked()
        assert running.roster.begun == 1
        running.outcomes.remove(MOST_WAITING)
    assert len(running.settled) == 2


async def test_an_interrupted_worker_hands_back_what_has_not_begun() -> None:
    async with a_crew(1) as running:
        running.mode.interrupt()
        running.backlog.extend([running.job(1)])
        await until(lambda: bool(running.settled))
    assert [type(outcome) for outcome in running.settled] == [Released]
