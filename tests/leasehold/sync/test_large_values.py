"""Large args and outputs, read without awaiting."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from leasehold import Client, sync
from leasehold.database import Database
from leasehold.errors import PayloadMissing
from leasehold.payloads.claim_checks import find_check
from leasehold.payloads.options import PayloadOptions
from leasehold.payloads.stores import FolderStore

PAGES: dict[str, Any] = {"shop": 7, "pages": ["x" * 100] * 100}


@pytest.fixture
async def large(database: Database, tmp_path: Path) -> int:
    """A job whose args are in the store."""
    writer = Client(database, payloads=PayloadOptions(FolderStore(tmp_path), claim_above=2_000))
    return await writer.enqueue("crawl", PAGES)


async def test_get_reads_large_args_in_the_store(database_url: str, tmp_path: Path, large: int) -> None:
    with sync.Client(database_url, payloads=str(tmp_path)) as client:
        assert client.get(large).args == PAGES


async def test_wait_and_chains_read_a_large_output_in_the_store(
    database: Database, database_url: str, tmp_path: Path, large: int
) -> None:
    [check] = await database.fetch("select args::text from leasehold.jobs where id = $1", large)
    await database.call("complete_chain", large, check[0], None)
    with sync.Client(database_url, payloads=str(tmp_path)) as client:
        assert client.wait(large) == PAGES
        assert client.get(large).output == PAGES
        assert client.chains.get(large).output == PAGES
        assert client.chains.wait(large).output == PAGES


async def test_without_a_store_the_claim_check_is_shown(database_url: str, large: int) -> None:
    with sync.Client(database_url) as client:
        assert find_check(client.get(large).args) is not None


async def test_without_a_dsn_the_store_is_that_of_the_settings(
    database_url: str, tmp_path: Path, large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEASEHOLD_DATABASE_URL", database_url)
    monkeypatch.setenv("LEASEHOLD_PAYLOADS_STORE", str(tmp_path))
    with sync.Client() as client:
        assert client.get(large).args == PAGES


async def test_content_that_is_gone_is_an_error(database_url: str, tmp_path: Path, large: int) -> None:
    rmtree(tmp_path)
    with sync.Client(database_url, payloads=str(tmp_path)) as client, pytest.raises(PayloadMissing):
        client.get(large)
