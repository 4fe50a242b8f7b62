"""A bucket that goes away in the middle, and a network that is cut."""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from leasehold import Client
from leasehold.database import Database
from leasehold.errors import StoreUnavailable
from leasehold.payloads.bucket import PART_BYTES
from leasehold.payloads.options import PayloadOptions, open_store
from tests.support.cutting_proxy import CuttingProxy, cutting_proxy

SIZE = 3 * PART_BYTES + 5


@pytest.fixture
def proxy(s3_server: str) -> Generator[CuttingProxy]:
    with cutting_proxy(s3_server) as proxy:
        yield proxy


def delete(address: str) -> None:
    with urllib.request.urlopen(urllib.request.Request(address, method="DELETE")):
        pass


def client_of(database: Database, url: str) -> Client:
    return Client(database, payloads=PayloadOptions(open_store(url)))


async def test_a_reader_that_takes_its_time_holds_no_request_open(
    database: Database,
    bucket: Callable[[str], str],
    proxy: CuttingProxy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = bucket(f"slow-{os.getpid()}")
    monkeypatch.setenv("AWS_ENDPOINT", proxy.url)
    payloads = client_of(database, url).payloads
    content = os.urandom(SIZE)
    saved = await payloads.save(content, kind="x", codec="none")
    read = b""
    async for piece in payloads.stream(saved):
        read += piece
        proxy.cut()
    assert read == content
    assert proxy.connections > 3


async def test_a_bucket_that_is_deleted_while_it_is_read_is_told(
    database: Database, bucket: Callable[[str], str], s3_server: str
) -> None:
    name = f"deleted-{os.getpid()}"
    payloads = client_of(database, bucket(name)).payloads
    saved = await payloads.save(os.urandom(SIZE), kind="x", codec="none")
    pieces = payloads.stream(saved)
    await anext(pieces)
    delete(f"{s3_server}/{name}/payloads/{saved.location}")
    delete(f"{s3_server}/{name}")
    with pytest.raises(StoreUnavailable, match="the bucket does not exist"):
        [piece async for piece in pieces]
    with pytest.raises(StoreUnavailable, match="the bucket does not exist"):
        await payloads.audit(repair=True)
    assert await payloads.list() == [saved]


async def test_a_network_that_is_cut_while_it_is_written_leaves_neither_row_nor_object(
    database: Database,
    bucket: Callable[[str], str],
    proxy: CuttingProxy,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    url = bucket(f"cut-{os.getpid()}")
    whole = client_of(database, url).payloads
    monkeypatch.setenv("AWS_ENDPOINT", proxy.url)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    proxy.limit = PART_BYTES // 2
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        await client_of(database, url).payloads.save(os.urandom(SIZE), kind="x", codec="none")
    assert await whole.list() == []
    assert list(whole.archive().store.files()) == []
    assert os.listdir(tmp_path) == []
    assert await whole.audit() == []
