from __future__ import annotations

import trio
from trio.testing import wait_all_tasks_blocked

from leasehold.actors.attempts.held_job import Backlog, HeldJob
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
    taken: list[HeldJob | None] = []

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


async def test_a_slot_that_was_woken_is_idle_until_it_has_taken_its_job_which_counts_once() -> None:
    backlog = Backlog()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(backlog.take)
        await wait_all_tasks_blocked()
        backlog.extend([held_job(1), held_job(2)])
        assert (len(backlog), backlog.idle_slots) == (2, 1)
        await wait_all_tasks_blocked()
        assert (len(backlog), backlog.idle_slots) == (1, 0)


async def test_a_slot_whose_job_was_taken_by_another_waits_on() -> None:
    backlog = Backlog()
    taken: list[HeldJob | None] = []

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


async def test_jobs_of_some_queues_are_taken_out_and_the_others_stay_in_their_order() -> None:
    backlog = Backlog()
    jobs = [held_job(number, queue=queue) for number, queue in enumerate("abcab")]
    backlog.extend(jobs)
    assert backlog.take_out({"a", "x"}) == [jobs[0], jobs[3]]
    assert [await backlog.take() for _ in range(3)] == [jobs[1], jobs[2], jobs[4]]


async def test_slots_are_let_go_those_that_wait_first() -> None:
    backlog = Backlog()
    gone: list[str] = []

    async def slot(name: str) -> None:
        while await backlog.take() is not None:
            pass
        gone.append(name)

    async with trio.open_nursery() as nursery:
        for name in "abc":
            nursery.start_soon(slot, name)
        await wait_all_tasks_blocked()
        backlog.dismiss(2)
        await wait_all_tasks_blocked()
        assert len(gone) == 2
        backlog.extend([held_job(1)])
        await wait_all_tasks_blocked()
        assert (len(gone), backlog.idle_slots) == (2, 1)
        backlog.close()


async def test_a_slot_that_was_to_go_and_has_not_gone_yet_may_be_kept() -> None:
    backlog = Backlog()
    backlog.dismiss(2)
    assert backlog.recall(5) == 2
    assert not backlog.lets_go()
    backlog.dismiss(2)
    assert backlog.recall(1) == 1
    assert backlog.lets_go()
    assert not backlog.lets_go()
