"""The same of every store: a folder, and object stores in memory, in a folder and on a server that speaks S3."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from leasehold.errors import BadInput, PayloadMissing, SettingsError, StoreUnavailable
from leasehold.payloads.options import open_store
from leasehold.payloads.stores import BlobStore


@pytest.fixture(params=["folder", "memory", "local", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    match request.param:
        case "folder":
            return open_store(str(tmp_path / "payloads"))
        case "memory":
            return open_store("memory:///")
        case "local":
            (tmp_path / "payloads").mkdir()
            return open_store(f"file://{tmp_path / 'payloads'}")
        case _:
            make: Callable[[str], str] = request.getfixturevalue("bucket")
            return open_store(make(f"crawl-{uuid4()}"))


def published(store: BlobStore, location: str, content: bytes) -> None:
    staged = store.staging_folder / f"leasehold-test-{os.getpid()}.tmp"
    staged.write_bytes(content)
    try:
        store.publish(staged, location)
    finally:
        staged.unlink(missing_ok=True)


def test_what_is_published_is_read_listed_and_deleted(store: BlobStore) -> None:
    content = bytes(range(256)) * 40_000
    before = datetime.now(UTC)
    published(store, "2026/01/02/store_7_x.json.gz", content)
    published(store, "2026/01/02/empty", b"")
    assert b"".join(store.read("2026/01/02/store_7_x.json.gz")) == content
    assert b"".join(store.read("2026/01/02/store_7_x.json.gz", 10_000_000)) == content[10_000_000:]
    assert store.size("2026/01/02/store_7_x.json.gz") == len(content)
    assert store.size("2026/01/02/empty") == 0
    found = {each.location: each.written_at for each in store.files()}
    assert set(found) == {"2026/01/02/store_7_x.json.gz", "2026/01/02/empty"}
    assert abs((found["2026/01/02/empty"] - before).total_seconds()) < 3600
    for _ in range(2):
        store.delete("2026/01/02/store_7_x.json.gz")
    store.delete("2026/01/02/empty")
    assert list(store.files()) == []


def test_what_is_not_there_is_missing(store: BlobStore) -> None:
    published(store, "2026/there", b"x")
    assert store.size("2026/absent") is None
    with pytest.raises(PayloadMissing, match="2026/absent"):
        next(store.read("2026/absent"))


def test_a_bucket_that_is_gone_is_told(bucket: Callable[[str], str], tmp_path: Path) -> None:
    store = open_store("s3://no-such-bucket/x")
    with pytest.raises(StoreUnavailable, match="no-such-bucket"):
        published(store, "a", b"x")
    with pytest.raises(StoreUnavailable, match="bucket"):
        next(store.read("a"))
    with pytest.raises(StoreUnavailable):
        list(store.files())


@pytest.mark.parametrize("where", ["s4://x", "http:", "s3:///"])
def test_an_address_that_is_none_is_refused(where: str) -> None:
    with pytest.raises(SettingsError, match="payloads_store"):
        open_store(where)


def test_a_folder_lets_nobody_out(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    for location in ("../secret", "/etc/passwd", "a/../../secret"):
        with pytest.raises(BadInput, match="no place inside"):
            next(store.read(location))


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        published(open_store(str(tmp_path / "file" / "store")), "a", b"x")


def test_deleting_the_last_file_of_a_day_takes_the_folders_of_that_day(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    published(store, "2026/01/02/x", b"x")
    published(store, "2026/01/03/y", b"y")
    store.delete("2026/01/02/x")
    assert sorted(each.name for each in (tmp_path / "2026" / "01").iterdir()) == ["03"]
