from __future__ import annotations

from collections.abc import Generator

import pytest

from leasehold.testing import TestDatabases
from tests.support.servers import Server


@pytest.fixture(scope="session")
def leasehold_databases(postgres_server: Server) -> Generator[TestDatabases]:
    """Those of the kit, on the server of our own tests."""
    databases = TestDatabases(postgres_server.dsn())
    yield databases
    databases.close()
