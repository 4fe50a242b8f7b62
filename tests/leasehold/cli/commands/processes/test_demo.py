from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from leasehold.cli.runtime.services import Services
from leasehold.demo.run import Pickup, Recovery
from leasehold.demo.stdlib_census.handlers import Interpreter
from leasehold.demo.stdlib_census.measures import Totals
from leasehold.demo.summary import DemoCheck, DemoReport
from leasehold.settings import Settings
from tests.leasehold.cli.conftest import Cli

REPORT = DemoReport(
    passed=True,
    checks=(DemoCheck("nothing lost", True, "787 jobs acknowledged and completed, 0 lost"),),
    run="5fb2",
    interpreter=Interpreter("CPython 3.11.7", "Linux", 2),
    workers=3,
    jobs=787,
    jobs_per_second=106.2,
    census_seconds=6.94,
    plain_seconds=6.61,
    pickup=Pickup(50, 8.1, 19.7),
    backlog=Pickup(702, 2400.0, 6200.0),
    retries=2,
    recovery=Recovery("worker.2", 9, 3.5, 3.8, 4.0),
    lost=0,
    totals=Totals(
        files=734,
        lines=327340,
        bytes=12118641,
        functions=16539,
        classes=2700,
        imports=5004,
        complexity=53036,
        unreadable=0,
    ),
    report="census.md",
    seconds=20.1,
)
SHOWN = """
jobs             787            on 3 worker processes, CPython 3.11.7, Linux, 2 processors
throughput       106/s          6.9 s with the kill; 6.6 s in one plain process
enqueue → start  8.1 / 19.7 ms  p50 / p99 of 50 jobs, workers idle
in the backlog   2.4 / 6.2 s    p50 / p99 of 702 jobs that came at once
retries          2              failed attempts that were tried again
recovered        9 jobs         started again 3.5 to 3.8 s after the kill; lease 4 s
lost             0
census           734 files      327,340 lines, 12.1 MB, 16,539 functions, 2,700 classes

✓  nothing lost  787 jobs acknowledged and completed, 0 lost

the demo passed
report: census.md
its dashboard has ended with it; `leasehold up` has one that stays, and prints its address first
"""


class Given(Services):
    """Answers with a report that is made up."""

    def __init__(self, report: DemoReport) -> None:
        self.report = report
        self.settings = Settings()
        self.keep: Path | None = None

    async def run_demo(
        self, settings: Settings, console: Console, keep: Path | None, hurries: Callable[[], bool]
    ) -> DemoReport:
        self.settings, self.keep = settings, keep
        console.print("the show goes on")
        return self.report


@pytest.mark.parametrize(("passed", "code"), [(True, 0), (False, 1)])
def test_the_exit_code_says_whether_every_promise_was_kept(run_cli: Cli, passed: bool, code: int) -> None:
    services = Given(msgspec.structs.replace(REPORT, passed=passed))
    done = run_cli("demo", "--output", "json", "--data-folder", "here", services=services)
    assert done.code == code
    assert done.json()["passed"] is passed
    assert done.err == "the show goes on\n"
    assert services.settings.data_folder == "here"


def test_the_report_of_the_census_is_kept_where_it_is_asked_for(run_cli: Cli, tmp_path: Path) -> None:
    services = Given(REPORT)
    assert run_cli("demo", "--report", str(tmp_path / "census.md"), services=services).code == 0
    assert services.keep == tmp_path / "census.md"
    refused = run_cli("demo", "--report", str(tmp_path / "nowhere" / "census.md"), services=services)
    assert (refused.code, refused.out) == (2, "")
    assert "--report must be a file in a folder that exists" in refused.err


def test_a_report_that_is_not_kept_is_not_named(run_cli: Cli) -> None:
    done = run_cli("demo", services=Given(msgspec.structs.replace(REPORT, report=None)), terminal=True)
    assert "the demo passed\n" in done.out
    assert "report:" not in done.out


def test_the_summary_fits_a_terminal_of_a_hundred_columns(run_cli: Cli) -> None:
    done = run_cli("demo", services=Given(REPORT), terminal=True)
    assert done.out == SHOWN
