"""`leasehold run worker --workers N`."""

from __future__ import annotations

import signal
from pathlib import Path

import psutil
import pytest

from leasehold.cli.up.up import plan_workers, probe_ports
from leasehold.client import Client
from leasehold.database import Database
from leasehold.errors import BadInput
from leasehold.settings import Settings
from tests.leasehold.cli.conftest import Cli
from tests.support.fleet import open_fleet
from tests.support.processes import StartProcess


def test_workers_have_names_and_ports_one_after_the_other() -> None:
    settings = Settings(workers=3, worker_id="pod-0", worker_name="Xylos", probe_port=8081)
    children = plan_workers(settings, {"PATH": "/bin", "LEASEHOLD_PROBE_PORT": "1"}, ["--fail-fast"])
    assert [child.name for child in children] == ["worker.1", "worker.2", "worker.3"]
    assert children[1].environ == {
        "PATH": "/bin",
        "LEASEHOLD_WORKER_ID": "pod-0-2",
        "LEASEHOLD_WORKER_NAME": "Xylos-2",
        "LEASEHOLD_PROBE_PORT": "8082",
    }
    assert children[0].command[-4:] == ["run", "worker", "--with-parent", "--fail-fast"]


def test_without_an_id_they_share_one_that_is_made_up_and_without_probes_there_are_none() -> None:
    first, second = (child.environ for child in plan_workers(Settings(workers=2), {}))
    stem = first["LEASEHOLD_WORKER_ID"].removesuffix("-1")
    assert second == {"LEASEHOLD_WORKER_ID": f"{stem}-2"}


def test_each_picks_a_port_where_the_first_does() -> None:
    assert probe_ports(Settings(workers=2, probe_port=0)) == [0, 0]


def test_ports_that_there_are_not_are_refused() -> None:
    assert probe_ports(Settings(workers=2, probe_port=65_534)) == [65_534, 65_535]
    with pytest.raises(BadInput, match="3 workers need the ports 65534 to 65536"):
        probe_ports(Settings(workers=3, probe_port=65_534))


def test_other_actors_need_a_process_of_their_own(cli: Cli) -> None:
    done = cli("run", "worker", "reaper", "--workers", "2")
    assert (done.code, done.out) == (2, "")
    assert "2 workers run alone" in done.err


@pytest.mark.acceptance
async def test_each_is_a_worker_of_the_pod_and_one_that_dies_is_started_again(
    database: Database, start_process: StartProcess, tmp_path: Path
) -> None:
    (tmp_path / "leasehold.toml").write_text("workers = 2\n")  # which those two read as well
    environ = {"LEASEHOLD_DATABASE_URL": database.dsn, "LEASEHOLD_CONFIG": str(tmp_path / "leasehold.toml")}
    pod = start_process(
        ["run", "worker", "--log-format", "text"],
        {**environ, "LEASEHOLD_WORKER_ID": "pod-0", "POD_NAME": "pod-0", "LEASEHOLD_POLL_SECONDS": "0.5"},
    )
    for number in (1, 2):
        await pod.until_line(f"starting worker pod-0-{number}")
    workers = {each.worker_id: each for each in await Client(database).workers.list()}
    assert {name: each.host for name, each in workers.items()} == {"pod-0-1": "pod-0", "pod-0-2": "pod-0"}
    assert {each.pid for each in workers.values()} == {each.pid for each in psutil.Process(pod.pid).children()}
    seen = pod.line_count
    psutil.Process(workers["pod-0-2"].pid).send_signal(signal.SIGKILL)
    await pod.until_line("worker.2 was ended by SIGKILL; starting it again", after=seen)
    await pod.until_line("starting worker pod-0-2", after=seen)
    async with open_fleet(database.dsn, start_process) as fleet:
        job = await fleet.client.enqueue("echo")
        await fleet.job(job, "completed")
    pod.signal(signal.SIGTERM)
    assert await pod.until_exit() == 0
    assert pod.output.count("worker pod-0-") >= 4
    assert "worker pod-0-1 stopped" in pod.output
    assert "worker pod-0-2 stopped" in pod.output
