"""SIGTERM once and twice."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support.fleet import Fleet

pytestmark = pytest.mark.acceptance


async def test_sigterm_lets_running_jobs_finish_and_claims_no_more(fleet: Fleet, tmp_path: Path) -> None:
    worker = await fleet.worker("leaving", LEASEHOLD_SLOTS="1")
    running = await fleet.client.enqueue("hold_until", {"until": str(tmp_path / "end")})
    await fleet.job(running, "running")
    worker.signal(signal.SIGTERM)
    await worker.until_line("draining")
    later = await fleet.client.enqueue("quick")
    (tmp_path / "end").touch()
    assert await worker.until_exit() == 0
    assert (await fleet.client.get(running)).state == "completed"
    assert (await fleet.client.get(later)).state == "pending"
    assert await fleet.value("select state from leasehold.workers") == "stopped"


async def test_a_second_sigterm_ends_at_once_and_hands_the_jobs_back(fleet: Fleet) -> None:
    worker = await fleet.worker("ending")
    job = await fleet.client.enqueue("hold", {"seconds": 600})
    await fleet.job(job, "running")
    worker.signal(signal.SIGTERM)
    await worker.until_line("draining")
    worker.signal(signal.SIGTERM)
    assert await worker.until_exit() == 0
    record = await fleet.client.get(job)
    assert (record.state, record.attempt) == ("pending", 1)
    assert await fleet.value("select spared_attempts from leasehold.jobs where id = $1", job) == 1


@pytest.mark.parametrize("actor", ["scheduler", "reaper"])
async def test_scheduler_and_reaper_end_at_once(fleet: Fleet, actor: str) -> None:
    process = fleet.run(actor)
    await process.until_line(f"running {actor}")
    process.signal(signal.SIGTERM)
    assert await process.until_exit() == 0


async def test_a_closed_terminal_drains_a_worker_as_sigterm_does(fleet: Fleet, tmp_path: Path) -> None:
    worker = await fleet.worker("hung up", LEASEHOLD_SLOTS="1")
    running = await fleet.client.enqueue("hold_until", {"until": str(tmp_path / "end")})
    await fleet.job(running, "running")
    worker.signal(signal.SIGHUP)
    await worker.until_line("draining")
    (tmp_path / "end").touch()
    assert await worker.until_exit() == 0
    assert (await fleet.client.get(running)).state == "completed"
