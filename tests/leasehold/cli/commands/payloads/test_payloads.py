from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from leasehold import PayloadRecord
from tests.leasehold.cli.conftest import Cli, Transcript
from tests.support.saved import AFTER, BEFORE, save


@pytest.fixture
def saved(database_url: str, tmp_path: Path) -> list[PayloadRecord]:
    return save(database_url, tmp_path / "store", BEFORE, AFTER, key="101", metadata={"products": 3})


@pytest.fixture
def payloads(cli: Cli, saved: list[PayloadRecord], tmp_path: Path) -> Cli:
    """`leasehold payloads …` with a store."""
    store = {"LEASEHOLD_PAYLOADS_STORE": str(tmp_path / "store"), "COLUMNS": "160"}

    def call(*words: str) -> Transcript:
        return cli("payloads", *words, environ=store)

    return call


def test_the_list_has_a_line_for_each(payloads: Cli, saved: list[PayloadRecord]) -> None:
    head, new, old = payloads("list", "--key", "101", "--output", "text").out.splitlines()
    assert head.split() == ["id", "saved", "kind", "key", "job", "size", "stored", "noted"]
    assert new.split()[0] == str(saved[1].id)
    assert old.split()[-1] == '{"products":3}'
    listed = payloads("list", "--limit", "1", "--output", "json").json()
    assert [each["id"] for each in listed] == [saved[1].id]


def test_one_is_shown_with_its_place_and_checksum(payloads: Cli, saved: list[PayloadRecord]) -> None:
    told = payloads("show", str(saved[0].id), "--output", "text").out
    assert saved[0].sha256 in told
    assert saved[0].location in told
    missing = payloads("show", "99")
    assert (missing.code, "there is no payload 99" in missing.err) == (3, True)


def test_the_content_is_printed_or_written(payloads: Cli, saved: list[PayloadRecord], tmp_path: Path) -> None:
    assert msgspec.json.decode(payloads("get", str(saved[0].id)).out) == BEFORE
    target = tmp_path / "out.json"
    assert payloads("get", str(saved[0].id), "--to", str(target)).code == 0
    assert msgspec.json.decode(target.read_bytes()) == BEFORE
    again = payloads("get", str(saved[0].id), "--to", str(target))
    assert (again.code, "cannot be written" in again.err) == (2, True)


def test_damaged_content_ends_with_a_code_of_its_own_and_leaves_no_file(
    payloads: Cli, saved: list[PayloadRecord], tmp_path: Path
) -> None:
    file = tmp_path / "store" / saved[0].location
    file.write_bytes(file.read_bytes()[:-3])
    told = payloads("get", str(saved[0].id), "--to", str(tmp_path / "out"))
    assert (told.code, "cut short" in told.err, (tmp_path / "out").exists()) == (9, True, False)
    file.unlink()
    lost = payloads("get", str(saved[0].id))
    assert (lost.code, "is not in the payload store" in lost.err) == (9, True)


def test_a_diff_is_a_table_for_people_and_json_elsewhere(payloads: Cli, saved: list[PayloadRecord]) -> None:
    lines = payloads("diff", "101", "--output", "text").out.splitlines()
    before, after = saved
    assert lines[:3] == [
        f"payload {before.id} (3 records) → {after.id} (3)",
        "1 added, 1 removed, 1 price changed, 1 stock changed",
        "",
    ]
    assert [line.split() for line in lines[3:]] == [
        ["what", "record", "name", "from", "to"],
        ["added", "4", "no.", "4", "-", '{"price":7.0,"stock":1}'],
        ["removed", "2", "no.", "2", '{"price":4.0,"stock":0}', "-"],
        ["price", "changed", "1", "no.", "1", "2.5", "2.75"],
        ["stock", "changed", "3", "no.", "3", "9", "8"],
    ]
    assert payloads("diff", "101", "--limit", "0", "--output", "text").out.splitlines()[2:] == [
        "4 more; --limit lists them"
    ]
    told = payloads("diff", "101", str(before.id), str(after.id), "--field", "price", "--output", "json").json()
    assert told["diff"] == {"added": 1, "removed": 1, "priceChanges": 1}


def test_without_a_store_the_setting_is_named(cli: Cli, saved: list[PayloadRecord]) -> None:
    told = cli("payloads", "get", str(saved[0].id))
    assert (told.code, "LEASEHOLD_PAYLOADS_STORE" in told.err) == (2, True)
