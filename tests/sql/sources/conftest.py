"""The task workers' tables as a source."""

from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.support.sources.making import define
from tests.support.sources.seeds import WORKER_TASKS


@pytest.fixture
async def tasks(database: Database) -> Database:
    """A database with the task workers' tables, defined as a source."""
    await database.execute(WORKER_TASKS)
    await define(database, "worker_tasks")
    return database
