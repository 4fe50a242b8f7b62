"""Tests of connections, in which no door stands before Postgres."""

from __future__ import annotations

import pytest

from tests.support.reused import ReusedDatabase


@pytest.fixture
def database_url(reused: ReusedDatabase) -> str:
    """As everywhere else, but that each connection is a session of its own."""
    reused.renew()
    return reused.dsn
