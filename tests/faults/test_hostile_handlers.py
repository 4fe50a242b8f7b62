"""Handlers that do what none should: the worker keeps its promises or ends, and never hangs."""

from __future__ import annotations

import os
import re
import signal
import socket
from pathlib import Path

import pytest
import trio

from tests.support.fleet import Fleet
from tests.support.servers import OwnServer

pytestmark = pytest.mark.acceptance


async def test_a_handler_that_keeps_the_interpreter_busy_keeps_its_job(fleet: Fleet, tmp_path: Path) -> None:
    worker = await fleet.worker("busy")
    fleet.run("reaper")
    job = await fleet.client.enqueue("spin", {"until": str(tmp_path / "end")})
    assert f"job {job} (spin)" in await worker.until_line("blocked the event loop")
    await fleet.renewed(job, 3)
    (tmp_path / "end").touch()
    record = await fleet.job(job, "completed")
    assert (record.attempt, record.output) == (1, "spun")


async def test_copies_that_a_handler_forks_end_by_their_own_signals_and_the_worker_hears_none(fleet: Fleet) -> None:
    worker = await fleet.worker("forks")
    for kind in ("fork", "fork_in_a_process"):
        job = await fleet.client.enqueue(kind, max_attempts=1)
        assert (await fleet.job(job, "completed", "failed")).output == [
            -signal.SIGTERM,
            -signal.SIGHUP,
            -signal.SIGKILL,
        ]
    later = await fleet.client.enqueue("quick")
    await fleet.job(later, "completed")
    assert "draining" not in worker.output


async def test_what_multiprocessing_does_to_its_copies_the_worker_does_not_feel(fleet: Fleet, tmp_path: Path) -> None:
    worker = await fleet.worker("multiprocessing", LEASEHOLD_SLOTS="2")
    innocent = await fleet.client.enqueue("hold_until", {"until": str(tmp_path / "end")}, max_attempts=1)
    await fleet.job(innocent, "running")
    left = await fleet.client.enqueue("leave_a_pool", max_attempts=1)
    assert (await fleet.job(left, "completed", "failed")).error["message"] == "the pool is left"
    ended = await fleet.client.enqueue("end_copies", max_attempts=1)
    assert (await fleet.job(ended, "completed", "failed")).output == [
        -signal.SIGTERM,
        1,
    ]  # KeyboardInterrupt ends a process so
    (tmp_path / "end").touch()
    assert (await fleet.job(innocent, "completed", "failed")).state == "completed"
    assert "draining" not in worker.output
    assert await trio.to_thread.run_sync(worker.terminate) == 0


async def test_a_copy_that_a_handler_leaves_behind_holds_no_port_of_the_worker(fleet: Fleet) -> None:
    worker = await fleet.worker("leaver", LEASEHOLD_PROBE_PORT="0")
    found = re.search(r"probes answer at http://127\.0\.0\.1:(\d+)", await worker.until_line("probes answer at"))
    assert found is not None
    job = await fleet.client.enqueue("leave_a_copy")
    copy = (await fleet.job(job, "completed")).output
    try:
        worker.signal(signal.SIGKILL)
        await worker.until_exit()
        os.kill(copy, 0)
        with socket.create_server(("127.0.0.1", int(found[1]))):
            pass
    finally:
        os.kill(copy, signal.SIGKILL)


async def test_a_handler_that_closes_the_standard_streams_ends_no_worker(fleet: Fleet) -> None:
    worker = await fleet.worker("mute")
    for kind in ("close_streams", "quick"):
        job = await fleet.client.enqueue(kind)
        await fleet.job(job, "completed")
    worker.signal(signal.SIGTERM)
    assert await worker.until_exit() == 0


async def test_a_handler_that_cannot_be_interrupted_is_left_to_its_lease_by_the_second_sigterm(fleet: Fleet) -> None:
    stuck = await fleet.worker("stuck")
    fleet.run("reaper")
    job = await fleet.client.enqueue("stuck_in_a_thread")
    await fleet.job(job, "running")
    stuck.signal(signal.SIGTERM)
    await stuck.until_line("draining")
    stuck.signal(signal.SIGTERM)
    assert await stuck.until_exit() == 1
    await fleet.expire("stuck")
    await fleet.worker("heir")
    assert (await fleet.job(job, "completed")).output == 2


async def test_a_handler_whose_callback_wants_to_end_the_program_ends_nothing(fleet: Fleet) -> None:
    worker = await fleet.worker("looped")
    for _ in range(2):
        job = await fleet.client.enqueue("end_the_loop")
        assert (await fleet.job(job, "completed")).output == 1
    await worker.until_line("a callback wanted to end the program")
    worker.signal(signal.SIGTERM)
    assert await worker.until_exit() == 0


async def test_a_worker_ends_although_its_database_is_away_at_one_signal_or_two(
    durable_fleet: Fleet, durable_server: OwnServer
) -> None:
    workers = [await durable_fleet.worker(name) for name in ("told once", "told twice")]
    durable_server.stop("immediate")
    try:
        for worker in workers:
            await worker.until_line("lost the database")
            worker.signal(signal.SIGTERM)
            await worker.until_line("draining")
        workers[1].signal(signal.SIGTERM)
        assert [await worker.until_exit() for worker in workers] == [0, 0]
    finally:
        durable_server.start()
