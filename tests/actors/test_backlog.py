from __future__ import annotations

import trio
from trio.testing import wait_all_tasks_blocked

from leasehold.actors.backlog import Backlog
from leasehold.actors.held import Held
from tests.support.held import held_job


async def test_jobs_are_taken_in_the_order_they_came() -> None:
    backlog = Backlog()
    first, second = held_job(1), held_job(2)
    backlog.extend([first, second])
    assert backlog.oldest is first
    assert [await backlog.take(), await backlog.take()] == [first, second]
    assert (len(backlog), backlog.oldest) == (0, None)


async def test_as_many_idle_slots_are_woken_as_there_are_jobs() -> None:
    backlog = Backlog()
    taken: list[Held | None] = []

    async def slot() -> None:
        taken.append(await backlog.take())

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(slot)
        await wait_all_tasks_blocked()
        assert backlog.idle_slots == 3
        jobs = [held_job(1), held_job(2)]
        backlog.extend(jobs)
        await wait_all_tasks_blocked()
        assert (taken, backlog.idle_slots) == (jobs, 1)
        backlog.close()
    assert taken == [*jobs, None]


async def test_a_slot_whose_job_was_taken_by_another_waits_on() -> None:
    backlog = Backlog()
    taken: list[Held | None] = []

    async def slot() -> None:
        taken.append(await backlog.take())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(slot)
        await wait_all_tasks_blocked()
        backlog.extend([held_job(1)])
        assert len(backlog.clear()) == 1
        await wait_all_tasks_blocked()
        assert taken == []
        backlog.close()
    assert taken == [None]


async def test_a_closed_backlog_is_emptied_before_it_sends_slots_home() -> None:
    backlog = Backlog()
    job = held_job(1)
    backlog.extend([job])
    backlog.close()
    assert [await backlog.take(), await backlog.take()] == [job, None]
