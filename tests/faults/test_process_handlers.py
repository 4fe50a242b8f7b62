"""Workers with CPU-bound handlers: no process outlives its worker, however that one ends."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import psutil
import pytest

from tests.support.fleet import Fleet
from tests.support.processes import LeaseholdProcess, is_gone
from tests.support.waiting import until

pytestmark = pytest.mark.acceptance

APP = "tests.support.process_app:app"


async def a_worker(fleet: Fleet, worker_id: str, **settings: str) -> LeaseholdProcess:
    worker = fleet.run("worker", LEASEHOLD_WORKER_ID=worker_id, LEASEHOLD_APP=APP, **settings)
    await worker.until_line("starting worker")
    return worker


def descendants(worker: LeaseholdProcess) -> list[psutil.Process]:
    """All processes below the worker: those of its handlers, what they have started, and multiprocessing's helper."""
    return psutil.Process(worker.pid).children(recursive=True)


async def test_a_killed_worker_leaves_no_process_behind_although_its_handler_never_lets_go_of_the_lock(
    fleet: Fleet, tmp_path: Path
) -> None:
    worker = await a_worker(fleet, "doomed")
    fleet.run("reaper")
    place = tmp_path / "pids"
    job = await fleet.client.enqueue("busy_first", {"place": str(place)})
    await until(place.exists)
    below = descendants(worker)
    assert set(map(int, place.read_text().split())) <= {process.pid for process in below}
    worker.signal(signal.SIGKILL)
    await worker.until_exit()
    for process in below:
        await until(lambda process=process: is_gone(process.pid))
    await fleet.expire("doomed")
    await a_worker(fleet, "heir")
    assert (await fleet.job(job, "completed")).output == 2


async def test_a_drained_worker_lets_its_processes_finish_and_leaves_none(fleet: Fleet, tmp_path: Path) -> None:
    worker = await a_worker(fleet, "draining")
    job = await fleet.client.enqueue("wait_for", {"place": str(tmp_path / "runs"), "then": str(tmp_path / "end")})
    await until((tmp_path / "runs").exists)
    below = descendants(worker)
    for process in [psutil.Process(worker.pid), *below]:  # as a process manager does that signals the control group
        process.terminate()
    await worker.until_line("draining")
    (tmp_path / "end").touch()
    assert await worker.until_exit() == 0
    assert (await fleet.job(job, "completed")).output == "waited"
    assert below
    for process in below:
        await until(lambda process=process: is_gone(process.pid))


async def test_a_second_sigterm_kills_the_processes_and_hands_their_jobs_back(fleet: Fleet, tmp_path: Path) -> None:
    worker = await a_worker(fleet, "ending")
    place = tmp_path / "pids"
    job = await fleet.client.enqueue("busy", {"place": str(place), "sleeper": True})
    await until(place.exists)
    worker.signal(signal.SIGTERM)
    await worker.until_line("draining")
    worker.signal(signal.SIGTERM)
    assert await worker.until_exit() == 0
    assert (await fleet.client.get(job)).state == "pending"
    for pid in map(int, place.read_text().split()):
        await until(lambda pid=pid: is_gone(pid))


async def test_a_cancelled_job_kills_its_process_and_the_slot_lives(fleet: Fleet, tmp_path: Path) -> None:
    await a_worker(fleet, "cancelling", LEASEHOLD_SLOTS="1")
    place = tmp_path / "pids"
    job = await fleet.client.enqueue("busy", {"place": str(place), "sleeper": True})
    await until(place.exists)
    await fleet.client.cancel(job)
    for pid in map(int, place.read_text().split()):
        await until(lambda pid=pid: is_gone(pid))
    other = await fleet.client.enqueue("pid")
    await fleet.job(other, "completed")


async def test_a_crash_is_a_failed_attempt_that_says_so_and_the_worker_lives(fleet: Fleet) -> None:
    worker = await a_worker(fleet, "tough", LEASEHOLD_SLOTS="1")
    job = await fleet.client.enqueue("crash", {"how": "segfault"}, max_attempts=1)
    await fleet.job(job, "failed")
    other = await fleet.client.enqueue("about", {"word": "hi"})
    await fleet.job(other, "completed")
    line = await worker.until_line("in a process")
    assert f"job_id={other}" in line
    assert "word=hi" in line
    told = json.loads(await fleet.value("select error::text from leasehold.finished_jobs where id = $1", job))
    assert (told["type"], told["crash"]) == ("ProcessCrashed", True)
    assert "SIGSEGV" in told["message"]
    assert "in crash" in told["traceback"]
