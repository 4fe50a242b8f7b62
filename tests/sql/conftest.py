"""Workers without a process, and sessions that stay from test to test."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from leasehold.database import Database
from tests.support.folders import short_folder
from tests.support.reused import ReusedDatabase
from tests.support.servers import OwnServer, Server
from tests.support.sql_worker import SqlWorker
from tests.support.warm_sessions import PARKED, warm_sessions


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
def database_url(reused: ReusedDatabase, warm_url: str) -> str:
    """As everywhere else, but that sessions have done with reading the catalog and compiling functions."""
    reused.renew(PARKED)
    return warm_url


@pytest.fixture
def worker(database: Database) -> SqlWorker:
    """A worker without a row of its own."""
    return SqlWorker(database)
