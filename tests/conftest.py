"""Fixtures.

LEASEHOLD_TEST_POSTGRES chooses the server: embedded18 (default), embedded16, system15 or a connection string. Such a
server is fast and would not survive a crash of the machine; tests that crash Postgres ask for `durable_server`.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Generator

import hypothesis
import pytest
import trio

from leasehold.database import Database, open_database
from leasehold.database.migrations import migrate
from tests.support.folders import short_folder
from tests.support.processes import StartProcess, processes
from tests.support.reused import ReusedDatabase, reused_database
from tests.support.servers import GivenServer, OwnServer, Server, new_database, own_server, psql_on

hypothesis.settings.register_profile("leasehold", deadline=None)
hypothesis.settings.load_profile("leasehold")

Psql = Callable[[str, str], str]

# A file is run by one process. Those that take longest come first, so that no process has one left when others are done.
LONG = (
    "faults/",
    "benchmarks/",
    "examples/",
    "test_demo.py",
    "test_wheel.py",
    "test_fuzzing.py",
    "plans.py",
    "races.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not any(each in item.nodeid for each in LONG))


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


@pytest.fixture
def database_url(reused: ReusedDatabase) -> str:
    """The connection string of a migrated database that is as if new; take `fresh_database_url` to change its schema."""
    reused.renew()
    return reused.dsn


@pytest.fixture
async def database(database_url: str) -> AsyncGenerator[Database]:
    """A migrated database that is as if new, open."""
    async with open_database(database_url) as database:
        yield database


@pytest.fixture
async def fresh_database(fresh_database_url: str) -> AsyncGenerator[Database]:
    """A migrated database for this test alone, which may change its schema, open."""
    async with open_database(fresh_database_url) as database:
        yield database


@pytest.fixture(scope="session")
def psql(postgres_server: Server) -> Psql:
    """`psql(database_url, sql)`: what the real psql prints, unaligned, without headings."""
    return lambda dsn, sql: psql_on(postgres_server.psql, dsn, sql)


@pytest.fixture
def durable_server(postgres_choice: str) -> Generator[OwnServer]:
    """A server for this test alone that keeps its promises to the disk; the test may stop, crash and start it."""
    choice = "embedded18" if "://" in postgres_choice else postgres_choice
    with short_folder() as folder, own_server(choice, folder, durable=True) as server:
        yield server


@pytest.fixture
def durable_database_url(durable_server: OwnServer) -> str:
    """The connection string of a migrated database on `durable_server`."""
    trio.run(migrate, durable_server.dsn())
    return durable_server.dsn()


@pytest.fixture
def start_process() -> Generator[StartProcess]:
    """`start_process(args, env)` starts `leasehold ARGS…`; all are ended with the test."""
    with processes() as start:
        yield start
