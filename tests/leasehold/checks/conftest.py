"""Databases for one test each, since most tests here spoil theirs."""

from __future__ import annotations

import pytest


@pytest.fixture
def database_url(fresh_database_url: str) -> str:
    return fresh_database_url
