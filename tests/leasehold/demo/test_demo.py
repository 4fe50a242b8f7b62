"""`leasehold demo` as people run it."""

from __future__ import annotations

import signal
from collections.abc import Generator
from pathlib import Path

import msgspec
import psutil
import pytest

from leasehold.demo.summary import DemoReport
from tests.conftest import Psql
from tests.support.folders import short_folder
from tests.support.processes import StartProcess

pytestmark = pytest.mark.acceptance


@pytest.fixture
def scene() -> Generator[dict[str, str]]:
    """An environment in which temporary files go where the test removes them."""
    with short_folder() as folder:
        yield {"TMPDIR": str(folder)}


def processes_in(folder: Path) -> list[psutil.Process]:
    """Those whose current folder is in it, as that of Postgres is, or that are told of it, as ours are."""
    return [each for each in psutil.process_iter() if belongs_to(each, str(folder))]


def belongs_to(process: psutil.Process, folder: str) -> bool:
    try:
        return process.cwd().startswith(folder) or folder in process.environ().get("LEASEHOLD_DATABASE_URL", "")
    except psutil.Error:
        return False


def test_the_demo_keeps_its_promises_and_leaves_no_process(
    start_process: StartProcess, scene: dict[str, str], tmp_path: Path
) -> None:
    demo = start_process(["demo", "--output", "json", "--report", "census.md"], scene, cwd=tmp_path)
    folder = Path(demo.wait_for_line("embedded Postgres in ").partition(" in ")[2]).parent
    assert demo.wait() == 0, demo.output
    report = msgspec.json.decode(demo.stdout, type=DemoReport)
    assert [check.name for check in report.checks if not check.passed] == []
    assert report.passed
    assert report.lost == 0
    assert report.retries >= 2  # two jobs stumble by design; a starved machine may add a time limit
    assert report.recovery.jobs > 0
    assert "## Most complex functions" in (tmp_path / "census.md").read_text()
    assert processes_in(folder) == []
    assert not list(Path(scene["TMPDIR"]).iterdir())


def test_a_demo_that_is_told_to_end_ends_everything(
    start_process: StartProcess, scene: dict[str, str], tmp_path: Path
) -> None:
    demo = start_process(["demo"], scene, cwd=tmp_path)
    line = demo.wait_for_line("embedded Postgres in ")
    folder = Path(line.partition(" in ")[2]).parent
    demo.wait_for_line("SIGKILL to ")
    assert len(processes_in(folder)) >= 6
    demo.signal(signal.SIGTERM)
    assert demo.wait() == 143
    assert "interrupted; all processes have ended" in demo.stderr
    assert processes_in(folder) == []
    assert not list(Path(scene["TMPDIR"]).iterdir())


def test_a_demo_that_is_told_to_end_while_postgres_starts_leaves_nothing(
    start_process: StartProcess, scene: dict[str, str], tmp_path: Path
) -> None:
    demo = start_process(["demo"], scene, cwd=tmp_path)
    demo.wait_for_line("a census of the Python standard library")
    demo.signal(signal.SIGINT)
    assert demo.wait() == 130
    assert processes_in(Path(scene["TMPDIR"])) == []
    assert not list(Path(scene["TMPDIR"]).iterdir())


def test_on_a_configured_database_an_interrupted_demo_leaves_no_job_waiting(
    start_process: StartProcess, scene: dict[str, str], database_url: str, psql: Psql, tmp_path: Path
) -> None:
    demo = start_process(["demo"], {**scene, "LEASEHOLD_DATABASE_URL": database_url}, cwd=tmp_path)
    demo.wait_for_line("the configured database")
    demo.wait_for_line("fanned out")
    demo.signal(signal.SIGINT)
    assert demo.wait() == 130
    assert psql(database_url, "select count(*) from leasehold.jobs where kind like 'census.%'") == "0"
