"""One database for all tests here, emptied before each, because making one takes longer than most of the tests."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator

import pytest

from leasehold.database import Database, open_database
from tests.support.servers import Server, new_database
from tests.support.sql_jobs import empty
from tests.support.sql_worker import SqlWorker


@pytest.fixture(scope="session")
def shared_database_url(
    postgres_server: Server, template_database: str, testrun_uid: str, worker_id: str
) -> Generator[str]:
    prefix = f"leasehold_{testrun_uid[:8]}_{worker_id}_sql"
    with new_database(postgres_server, template_database, prefix) as dsn:
        yield dsn


@pytest.fixture
async def database(shared_database_url: str) -> AsyncGenerator[Database]:
    """An empty database, which other tests have used. Take `fresh_database` to change its tables."""
    async with open_database(shared_database_url) as database:
        await empty(database)
        yield database


@pytest.fixture
async def fresh_database(database_url: str) -> AsyncGenerator[Database]:
    """A database for this test alone."""
    async with open_database(database_url) as database:
        yield database


@pytest.fixture
def worker(database: Database) -> SqlWorker:
    """A worker without a row of its own."""
    return SqlWorker(database)
