from __future__ import annotations

import os
from pathlib import Path

import pytest

from leasehold import Client
from leasehold.database import Database
from leasehold.errors import StoreUnavailable
from leasehold.payloads.options import PayloadOptions
from leasehold.payloads.stores import FolderStore


async def test_a_payload_whose_content_is_lost_or_cut_short_is_found_and_deleted(
    database: Database, tmp_path: Path
) -> None:
    payloads = Client(database, payloads=PayloadOptions(FolderStore(tmp_path))).payloads
    lost, cut, kept = [await payloads.save([number], kind="x") for number in range(3)]
    (tmp_path / lost.location).unlink()
    (tmp_path / cut.location).write_bytes(b"half")
    found = await payloads.audit()
    assert [(each.finding, each.subject) for each in found] == [
        ("payload_without_content", f"payload {cut.id}"),
        ("payload_without_content", f"payload {lost.id}"),
    ]
    assert "there is no such file" in found[1].explanation
    assert f"the file has 4 bytes, {cut.compressed_size} were written" in found[0].explanation
    assert all(each.is_repaired for each in await payloads.audit(repair=True))
    assert await payloads.audit() == []
    assert await payloads.list() == [kept]


async def test_a_file_that_no_payload_names_is_found_when_it_is_a_day_old(database: Database, tmp_path: Path) -> None:
    payloads = Client(database, payloads=PayloadOptions(FolderStore(tmp_path))).payloads
    kept = await payloads.save([1], kind="x")
    for name in ("old.json", "new.json"):
        (tmp_path / name).write_bytes(b"[]")
    for path in (tmp_path / "old.json", tmp_path / kept.location):
        os.utime(path, (0, 0))
    [found] = await payloads.audit()
    assert (found.finding, found.subject, found.is_repaired) == ("file_of_nobody", "file old.json", False)
    assert [each.is_repaired for each in await payloads.audit(repair=True)] == [True]
    assert (await payloads.audit(), (tmp_path / "new.json").exists()) == ([], True)


async def test_what_is_no_fault_any_more_is_left_alone(database: Database, tmp_path: Path) -> None:
    payloads = Client(database, payloads=PayloadOptions(FolderStore(tmp_path))).payloads
    saved, _ = [await payloads.save([number], kind="x") for number in range(2)]
    path = tmp_path / saved.location
    content = path.read_bytes()
    path.unlink()
    [fault] = await payloads.audit()
    path.write_bytes(content)
    assert (await payloads.repair(fault)).is_repaired is False
    assert await payloads.load(saved) == [0]


async def test_a_store_that_is_empty_although_there_are_payloads_is_not_believed(
    database: Database, tmp_path: Path
) -> None:
    payloads = Client(database, payloads=PayloadOptions(FolderStore(tmp_path / "volume"))).payloads
    assert await payloads.audit(repair=True) == []
    saved = await payloads.save([1], kind="x")
    (tmp_path / "volume").rename(tmp_path / "unmounted")
    with pytest.raises(StoreUnavailable, match="is its volume mounted"):
        await payloads.audit(repair=True)
    (tmp_path / "unmounted").rename(tmp_path / "volume")
    assert await payloads.load(saved) == [1]
