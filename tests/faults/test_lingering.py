"""What used to keep a worker process from ending, or end it without a word."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support.fleet import Fleet

pytestmark = pytest.mark.acceptance


async def test_a_drained_worker_ends_although_a_handler_has_left_a_thread_and_names_it(fleet: Fleet) -> None:
    worker = await fleet.worker("left")
    job = await fleet.client.enqueue("leave_a_thread", {"seconds": 600})
    await fleet.job(job, "completed")
    worker.signal(signal.SIGTERM)
    assert await worker.until_exit() == 0
    assert "ending without threads that still run: a thread of somebody's" in worker.output


async def test_a_second_sigterm_ends_a_worker_whose_event_loop_is_blocked(fleet: Fleet) -> None:
    worker = await fleet.worker("blocked")
    job = await fleet.client.enqueue("block_loop", {"until": "never"})
    await worker.until_line("blocked the event loop")
    worker.signal(signal.SIGTERM)
    await worker.until_line("draining")
    worker.signal(signal.SIGTERM)
    await worker.until_line("interrupting")
    assert await worker.until_exit() == 1
    assert (await fleet.client.get(job)).state == "running"
    await fleet.reap("blocked")
    record = await fleet.client.get(job)
    assert (record.state, record.attempt - record.spared_attempts) == ("pending", 0)


async def test_draining_ends_in_time_although_the_event_loop_is_blocked(fleet: Fleet) -> None:
    worker = await fleet.worker("blocked", LEASEHOLD_DRAIN_SECONDS="1")
    await fleet.client.enqueue("block_loop", {"until": "never"})
    await worker.until_line("blocked the event loop")
    worker.signal(signal.SIGTERM)
    assert await worker.until_exit() == 1


async def test_what_does_not_end_before_the_kill_of_a_launcher_is_handed_back_and_charged_nothing(fleet: Fleet) -> None:
    worker = await fleet.worker("dyno", LEASEHOLD_STOP_SECONDS="12")
    job = await fleet.client.enqueue("hold", {"seconds": 600})
    await fleet.job(job, "running")
    worker.signal(signal.SIGTERM)
    assert await worker.until_exit() == 0
    record = await fleet.client.get(job)
    assert (record.state, record.attempt - record.spared_attempts) == ("pending", 0)


async def test_ctrl_c_drains_and_ends_with_the_code_of_the_shell(fleet: Fleet, tmp_path: Path) -> None:
    worker = await fleet.worker("typed")
    job = await fleet.client.enqueue("hold_until", {"until": str(tmp_path / "end")})
    await fleet.job(job, "running")
    worker.signal(signal.SIGINT)
    await worker.until_line("draining")
    (tmp_path / "end").touch()
    assert await worker.until_exit() == 130
    assert (await fleet.client.get(job)).state == "completed"


async def test_a_handler_that_cancels_the_nursery_it_runs_in_fails_alone(fleet: Fleet, tmp_path: Path) -> None:
    worker = await fleet.worker("cancelled")
    held = await fleet.client.enqueue("hold_until", {"until": str(tmp_path / "end")})
    await fleet.job(held, "running")
    guilty = await fleet.client.enqueue("cancel_the_parent", max_attempts=1)
    record = await fleet.job(guilty, "failed")
    assert record.attempt == 1
    (tmp_path / "end").touch()
    assert (await fleet.job(held, "completed")).attempt == 1
    following = await fleet.client.enqueue("quick")
    await fleet.job(following, "completed")
    assert worker.exit_code is None


@pytest.mark.parametrize("megabytes", [0, 8])
async def test_a_worker_without_memory_goes_on_or_ends_and_is_never_deaf(fleet: Fleet, megabytes: int) -> None:
    worker = await fleet.worker("hungry", LEASEHOLD_LOG_LEVEL="debug", LEASEHOLD_DRAIN_SECONDS="1")
    job = await fleet.client.enqueue("eat_memory", {"megabytes": megabytes}, max_attempts=1)
    await worker.until_line(f"claimed job {job} ")
    worker.signal(signal.SIGTERM)
    await worker.until_exit()


async def test_an_exception_that_cannot_be_printed_keeps_its_traceback(fleet: Fleet) -> None:
    await fleet.worker("mute")
    job = await fleet.client.enqueue("raise_the_unprintable", max_attempts=1)
    await fleet.job(job, "failed")
    (error,) = await fleet.client.jobs.errors(job)
    assert error.type == "Unprintable"
    assert "raise_the_unprintable" in (error.traceback or "")
