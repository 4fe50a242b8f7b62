"""Workers without a process."""

from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.sql_worker import SqlWorker


@pytest.fixture
def worker(database: Database) -> SqlWorker:
    """A worker without a row of its own."""
    return SqlWorker(database)
