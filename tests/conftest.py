"""Fixtures.

LEASEHOLD_TEST_POSTGRES chooses the server: embedded18 (default), embedded16, system15 or a connection string. Such a
server is fast and would not survive a crash of the machine; tests that crash Postgres ask for `durable_server`.
LEASEHOLD_TEST_PATIENCE stretches every wait and every limit of a test, for slow and busy machines: 3 is three times.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import trio

from leasehold.database import Database, open_database
from leasehold.database.migrations import migrate
from tests.support.folders import short_folder
from tests.support.hanging import end_after
from tests.support.processes import StartProcess, processes
from tests.support.reused import ReusedDatabase, reused_database
from tests.support.servers import GivenServer, OwnServer, Server, new_database, own_server, psql_on
from tests.support.waiting import PATIENCE, STRETCH
from tests.support.warm_sessions import PARKED, warm_sessions

hypothesis.settings.register_profile("leasehold", deadline=None)
hypothesis.settings.load_profile("leasehold")

Psql = Callable[[str, str], str]

ROOT = Path(__file__).parents[1]

# A test of the acceptance kind uses one of these fixtures, lies in one of these places, or carries the mark itself.
OTHERS = frozenset({"start_process", "durable_server", "browser"})
PLACES = (
    "tests/actors/processes/test_processes.py",
    "tests/benchmarks/test_quick.py",
    "tests/examples/test_commands.py",
    "tests/examples/test_shop_crawl.py",
    "tests/faults/bugs/test_code.py",
    "tests/faults/soak/test_scenes.py",
    "tests/faults/test_",
    "tests/gateway/test_fuzzing.py",
    "tests/house/pages/",
    "tests/house/test_recipes.py",
    "tests/house/test_sync_page.py",
    "tests/house/test_testing_page.py",
    "tests/house/test_framework_recipes.py",
    "tests/house/test_tutorial.py",
    "tests/house/test_wheel.py",
    "tests/leasehold/cli/runtime/test_interruption.py",
    "tests/leasehold/cli/runtime/test_parent.py",
    "tests/leasehold/cli/top/test_top.py",
    "tests/leasehold/cli/up/test_health_watch.py",
    "tests/leasehold/cli/up/test_postgres_keeper.py",
    "tests/leasehold/cli/up/test_processes.py",
    "tests/leasehold/cli/up/test_reload.py",
    "tests/leasehold/cli/up/test_several.py",
    "tests/leasehold/cli/up/test_up.py",
    "tests/leasehold/concurrency/asyncio_border/test_programs.py",
    "tests/leasehold/database/test_embedded.py",
    "tests/leasehold/database/test_pooler.py",
    "tests/leasehold/database/test_programs.py",
    "tests/leasehold/demo/test_demo.py",
    "tests/leasehold/demo/test_make.py",
    "tests/leasehold/demo/test_stage.py",
    "tests/leasehold/django/test_cases.py",
    "tests/leasehold/django/test_management.py",
    "tests/leasehold/egress/test_web.py",
    "tests/leasehold/testing/test_crashes.py",
    "tests/leasehold/testing/test_plugin.py",
    "tests/typing/",
)
# What only reads sources and pages is part of `make check`.
LINTS = ("tests/house/", "tests/sql/test_conventions.py")
ACCEPTANCE_SECONDS = 300
FIRST_TRY_CHARACTERS = 4000
SLOW_FILES = 60

# Those that take longest come first, so that no process has one left when others are done.
LONG = ("test_live_upgrades", "test_interrupts", "test_demo", "test_wheel", "test_fuzzing", "plans.py", "races.py")


# What the text of a file has where one of its tests uses such a fixture, itself or by another one.
WORDS = ("start_process", "durable_", "browser", "fleet", "open_page", "acceptance")


def may_have_acceptance(path: Path) -> bool:
    """Whether a test in this file may be of the acceptance kind."""
    place = path.relative_to(ROOT).as_posix()
    return place.startswith(PLACES) or any(word in path.read_text() for word in WORDS)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without a test of the chosen kind: to import all of them takes each test process seconds."""
    if not collection_path.name.startswith("test_"):
        return None
    if config.option.markexpr == "acceptance":
        return None if may_have_acceptance(collection_path) else True
    is_left_out = collection_path.relative_to(ROOT).as_posix().startswith(PLACES)
    return True if is_left_out and str(config.option.markexpr).startswith("not acceptance") else None


def pytest_configure() -> None:
    """A shell ignores SIGINT for what it starts in the background, and nohup SIGHUP; so would all programs that tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses by the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if OTHERS.intersection(getattr(item, "fixturenames", ())) or item.nodeid.startswith(PLACES):
            item.add_marker(pytest.mark.acceptance)
        is_acceptance = item.get_closest_marker("acceptance") is not None
        if is_acceptance and not may_have_acceptance(item.path):
            raise pytest.UsageError(f"`make acceptance` would not find {item.nodeid}: add a word of its file to WORDS")
        if item.nodeid.startswith(LINTS) and not is_acceptance:
            item.add_marker(pytest.mark.lint)
        seconds = ACCEPTANCE_SECONDS if is_acceptance else float(config.getini("timeout"))
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(seconds * STRETCH))
    items.sort(key=lambda item: not any(each in item.nodeid for each in LONG))


def pytest_collection_finish() -> None:
    """Thousands of tests stay for the whole run: the collector of garbage need not look at them again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool:
    """In place of the one of pytest-timeout, which calls `cancel_timeout` when the test has ended."""
    item.cancel_timeout = end_after(item, settings.timeout)  # pyright: ignore[reportAttributeAccessIssue]  its protocol
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    _tell_slow_files(terminalreporter)
    _tell_second_tries(terminalreporter)


def _tell_slow_files(terminalreporter: pytest.TerminalReporter) -> None:
    """Beside `--durations`, which names single tests: many small ones take most of the time."""
    if not terminalreporter.config.getoption("durations"):
        return
    seconds: dict[str, float] = {}
    for report in (each for reports in terminalreporter.stats.values() for each in reports):
        if isinstance(report, pytest.TestReport):
            file = report.nodeid.partition("::")[0]
            seconds[file] = seconds.get(file, 0.0) + report.duration
    terminalreporter.section(f"slowest files of {sum(seconds.values()):.0f} s of work")
    for file in sorted(seconds, key=lambda each: -seconds[each])[:SLOW_FILES]:
        terminalreporter.write_line(f"{seconds[file]:.1f}s {file}")


def _tell_second_tries(terminalreporter: pytest.TerminalReporter) -> None:
    """What needed a second try passed by luck: a defect to mend, and nobody should have to look for it."""
    again: dict[str, pytest.TestReport] = {}
    for report in terminalreporter.getreports("rerun"):
        again.setdefault(report.nodeid, report)
    for nodeid, first in again.items():
        terminalreporter.section(f"first try of {nodeid}", sep="-", yellow=True)
        said = [first.longreprtext, first.capstdout, first.capstderr, first.caplog]
        terminalreporter.write_line("\n".join(text[-FIRST_TRY_CHARACTERS:] for text in said if text))
    for nodeid, first in again.items():
        crash = getattr(first.longrepr, "reprcrash", None)
        words = (crash.message if crash is not None else first.longreprtext).strip().splitlines()
        terminalreporter.write_line(f"needed a second try: {nodeid}: {words[0][:200] if words else ''}", yellow=True)


@pytest.fixture(scope="session")
def postgres_choice() -> str:
    return os.environ.get("LEASEHOLD_TEST_POSTGRES") or "embedded18"


@pytest.fixture(scope="session")
def postgres_server(postgres_choice: str) -> Generator[Server]:
    """One server for all tests; with pytest-xdist, one for each of its processes."""
    if "://" in postgres_choice:
        yield GivenServer(postgres_choice)
        return
    with short_folder(fast=True) as folder, own_server(postgres_choice, folder) as server:
        yield server


@pytest.fixture(scope="session")
def template_database(postgres_server: Server, testrun_uid: str, worker_id: str) -> Generator[str]:
    """The name of a migrated database that nobody can connect to any more; tests get copies."""
    prefix = f"leasehold_{testrun_uid[:8]}_{worker_id}_template"
    with new_database(postgres_server, "template0", prefix) as dsn:
        name = dsn.partition("?")[0].rpartition("/")[2]
        trio.run(migrate, dsn)
        psql_on(postgres_server.psql, postgres_server.dsn(), f'alter database "{name}" with allow_connections false')
        yield name


@pytest.fixture
def empty_database_url(postgres_server: Server, testrun_uid: str, worker_id: str) -> Generator[str]:
    """The connection string of a fresh database without our schema."""
    with new_database(postgres_server, "template0", f"leasehold_{testrun_uid[:8]}_{worker_id}_empty") as dsn:
        yield dsn


@pytest.fixture
def fresh_database_url(
    postgres_server: Server, template_database: str, testrun_uid: str, worker_id: str
) -> Generator[str]:
    """The connection string of a migrated database for this test alone, which may change its schema."""
    with new_database(postgres_server, template_database, f"leasehold_{testrun_uid[:8]}_{worker_id}") as dsn:
        yield dsn


@pytest.fixture(scope="session")
def reused(
    postgres_server: Server, template_database: str, testrun_uid: str, worker_id: str
) -> Generator[ReusedDatabase]:
    """The database that most tests use in turn."""
    prefix = f"leasehold_{testrun_uid[:8]}_{worker_id}_reused"
    with new_database(postgres_server, template_database, prefix) as dsn, reused_database(dsn) as database:
        yield database


@pytest.fixture(scope="session")
def warm_url(reused: ReusedDatabase, postgres_server: Server) -> Generator[str]:
    """The reused database, behind a door where its sessions stay."""
    if not isinstance(postgres_server, OwnServer):
        yield reused.dsn
        return
    (socket,) = postgres_server.socket_folder.glob(".s.PGSQL.*[0-9]")
    with short_folder() as folder, warm_sessions(str(socket), folder) as host:
        yield reused.dsn.replace(str(postgres_server.socket_folder), host)


@pytest.fixture
def database_url(request: pytest.FixtureRequest, reused: ReusedDatabase) -> str:
    """The connection string of a migrated database that is as if new; take `fresh_database_url` to change its schema."""
    if request.node.get_closest_marker("acceptance") is not None:  # its processes come to Postgres themselves
        reused.renew()
        return reused.dsn
    reused.renew(PARKED)
    return request.getfixturevalue("warm_url")


@pytest.fixture
async def database(database_url: str) -> AsyncGenerator[Database]:
    """A migrated database that is as if new, open."""
    async with open_database(database_url, timeout=PATIENCE) as database:
        yield database


@pytest.fixture
async def fresh_database(fresh_database_url: str) -> AsyncGenerator[Database]:
    """A migrated database for this test alone, which may change its schema, open."""
    async with open_database(fresh_database_url, timeout=PATIENCE) as database:
        yield database


@pytest.fixture(scope="session")
def psql(postgres_server: Server) -> Psql:
    """`psql(database_url, sql)`: what the real psql prints, unaligned, without headings."""
    return lambda dsn, sql: psql_on(postgres_server.psql, dsn, sql)


@pytest.fixture(scope="session")
def durable_data(postgres_choice: str) -> Generator[Path]:
    """The data of a server with a migrated database, which is stopped; tests get copies."""
    choice = "embedded18" if "://" in postgres_choice else postgres_choice
    with short_folder() as folder:
        with own_server(choice, folder, durable=True) as server:
            trio.run(migrate, server.dsn())
        yield server.data_folder


@pytest.fixture
def durable_server(postgres_choice: str, durable_data: Path) -> Generator[OwnServer]:
    """A server for this test alone that keeps its promises to the disk; the test may stop, crash and start it."""
    choice = "embedded18" if "://" in postgres_choice else postgres_choice
    with short_folder() as folder:
        # With its owner, who is another one where we are root.
        subprocess.run(["cp", "-a", durable_data, folder / "data"], check=True, timeout=PATIENCE)
        with own_server(choice, folder, durable=True) as server:
            yield server


@pytest.fixture
def durable_database_url(durable_server: OwnServer) -> str:
    """The connection string of a migrated database on `durable_server`."""
    return durable_server.dsn()


@pytest.fixture
def start_process() -> Generator[StartProcess]:
    """`start_process(args, env)` starts `leasehold ARGS…`; all are ended with the test."""
    with processes() as start:
        yield start
