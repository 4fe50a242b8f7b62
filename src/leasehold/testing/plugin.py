"""Fixtures for pytest, found by its entry point. Nothing is imported before a test asks for one.

LEASEHOLD_TEST_DATABASE_URL names a server where databases may be made; without it embedded Postgres is started.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from leasehold.app import App
    from leasehold.testing.databases import TestDatabases
    from leasehold.testing.kit import Kit

VARIABLE = "LEASEHOLD_TEST_DATABASE_URL"
# Fast, and worth nothing after a crash of the machine.
UNSAFE = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}


@pytest.fixture(scope="session")
def leasehold_databases() -> Generator[TestDatabases]:
    """The server of the tests; embedded Postgres keeps its data in one folder for temporary files and stops at the end."""
    from leasehold.database.embedded import embedded_postgres  # noqa: PLC0415  every run of pytest loads this file
    from leasehold.testing.databases import TestDatabases  # noqa: PLC0415  every run of pytest loads this file

    with ExitStack() as stack:
        dsn = os.environ.get(VARIABLE)
        if not dsn:
            folder = Path(tempfile.gettempdir()) / f"leasehold-testing-{os.getuid()}"
            dsn = stack.enter_context(embedded_postgres(folder, conf=UNSAFE, sync=False)).dsn
        databases = TestDatabases(dsn)
        stack.callback(databases.close)
        yield databases


@pytest.fixture
def leasehold_database_url(leasehold_databases: TestDatabases) -> Generator[str]:
    """The connection string of a migrated database for this test alone."""
    with leasehold_databases.new() as url:
        yield url


@pytest.fixture
def leasehold_app() -> App:
    """The app whose handlers run; define a fixture of this name that returns yours."""
    from leasehold.app import App  # noqa: PLC0415  every run of pytest loads this file

    return App()


@pytest.fixture
def leasehold_kit(leasehold_databases: TestDatabases, leasehold_database_url: str, leasehold_app: App) -> Kit:
    """What a test does with jobs, on a database for this test alone."""
    from leasehold.testing.kit import Kit  # noqa: PLC0415  every run of pytest loads this file

    return Kit(leasehold_databases, leasehold_database_url, leasehold_app)
