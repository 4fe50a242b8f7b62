"""A database that the tests of a folder use one after the other; making a new one for each would take most of their time.

Import the two fixtures into the folder's conftest.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.support.emptied import EMPTIED
from tests.support.servers import Server, new_database, psql_on

# `public` goes with triggers that call functions in it.
NEW = EMPTIED + "drop schema if exists public cascade; create schema public"


@pytest.fixture(scope="package")
def reused_database_url(
    postgres_server: Server, template_database: str, testrun_uid: str, worker_id: str
) -> Generator[str]:
    """The connection string of a migrated database."""
    with new_database(postgres_server, template_database, f"leasehold_{testrun_uid[:8]}_{worker_id}_reused") as dsn:
        yield dsn


@pytest.fixture
def database_url(postgres_server: Server, reused_database_url: str) -> str:
    """The connection string of a migrated database without any jobs, and with nothing in `public`."""
    psql_on(postgres_server.psql, reused_database_url, NEW)
    return reused_database_url
