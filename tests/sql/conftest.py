"""Workers without a process."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from leasehold.database import Database, open_database
from tests.support.sql_worker import SqlWorker


@pytest.fixture
async def fresh_database(fresh_database_url: str) -> AsyncGenerator[Database]:
    """A migrated database for this test alone, which may change its schema, open."""
    async with open_database(fresh_database_url) as database:
        yield database


@pytest.fixture
def worker(database: Database) -> SqlWorker:
    """A worker without a row of its own."""
    return SqlWorker(database)
