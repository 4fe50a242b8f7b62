"""What tests of clients and of the command line share."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support.folders import short_folder


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """The current folder, empty, with nothing configured."""
    for name in ("LEASEHOLD_DATABASE_URL", "DATABASE_URL", "LEASEHOLD_DATA_FOLDER", "PGHOST", "PGPORT", "PGDATABASE"):
        monkeypatch.delenv(name, raising=False)
    with short_folder() as made:
        monkeypatch.chdir(made)
        yield made
