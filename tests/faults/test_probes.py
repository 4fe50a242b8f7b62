"""Probes of real processes: they answer while a handler blocks the event loop, and while the database is away."""

from __future__ import annotations

import http.client
import re
from pathlib import Path

import pytest

from tests.support.fleet import Fleet
from tests.support.processes import LeaseholdProcess
from tests.support.servers import OwnServer
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.acceptance


def probe(process: LeaseholdProcess, path: str) -> int:
    found = re.search(r"probes answer at http://127\.0\.0\.1:(\d+)", process.output)
    assert found is not None
    connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=PATIENCE)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


async def test_life_ends_while_a_handler_blocks_the_loop_and_comes_back(fleet: Fleet, tmp_path: Path) -> None:
    worker = await fleet.worker("blocked", LEASEHOLD_PROBE_PORT="0", LEASEHOLD_PROBE_STALE_SECONDS="0.6")
    await until(lambda: probe(worker, "/livez") == 200)
    job = await fleet.client.enqueue("spin", {"until": str(tmp_path / "end")})
    await until(lambda: probe(worker, "/livez") == 503)
    assert probe(worker, "/readyz") == 503
    (tmp_path / "end").touch()
    await fleet.job(job, "completed")
    await until(lambda: probe(worker, "/livez") == 200)


async def test_without_its_database_a_worker_lives_is_not_ready_and_says_so_once(
    durable_fleet: Fleet, durable_server: OwnServer
) -> None:
    worker = await durable_fleet.worker("alone", LEASEHOLD_PROBE_PORT="0")
    await until(lambda: probe(worker, "/readyz") == 200)
    durable_server.stop("immediate")
    try:
        await until(lambda: probe(worker, "/readyz") == 503)
        assert probe(worker, "/livez") == 200
        assert probe(worker, "/startupz") == 200
    finally:
        durable_server.start()
    await worker.until_line("the database answers again")
    warnings = [line for line in worker.output.splitlines() if "WARNING supervise:" in line]
    assert len(warnings) == 2
    assert "lost the database" in warnings[0]
