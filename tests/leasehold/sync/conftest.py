"""A synchronous client on the database of the test."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from leasehold import sync
from leasehold.sync.client import SyncClient


@pytest.fixture
def client(database_url: str) -> Generator[SyncClient]:
    with sync.Client(database_url) as client:
        yield client
