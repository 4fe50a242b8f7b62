from __future__ import annotations

from collections.abc import Generator

import pytest

from leasehold.testing import TestDatabases
from tests.support.servers import Server


class QuickDatabases(TestDatabases):
    """Copies files, which is quicker where Postgres need not survive a crash of the machine."""

    def execute(self, *statements: str) -> None:
        super().execute(*(f"{each} strategy file_copy" if each.startswith("create ") else each for each in statements))


@pytest.fixture(scope="session")
def leasehold_databases(postgres_server: Server) -> Generator[TestDatabases]:
    """Those of the kit, on the server of our own tests."""
    databases = QuickDatabases(postgres_server.dsn())
    yield databases
    databases.close()
