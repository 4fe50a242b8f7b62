from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from tests.support.fleet import Fleet, open_fleet
from tests.support.processes import StartProcess


@pytest.fixture
def database_url(fresh_database_url: str) -> str:
    """A database for each test alone: what was killed may go on there for a while."""
    return fresh_database_url


@pytest.fixture
async def fleet(database_url: str, start_process: StartProcess) -> AsyncGenerator[Fleet]:
    """Actor processes on a fresh database."""
    async with open_fleet(database_url, start_process) as fleet:
        yield fleet


@pytest.fixture
async def durable_fleet(durable_database_url: str, start_process: StartProcess) -> AsyncGenerator[Fleet]:
    """Actor processes on a server that the test may crash."""
    async with open_fleet(durable_database_url, start_process) as fleet:
        yield fleet
