"""`/api/payloads…` with a real database and a real folder behind it."""

from __future__ import annotations

import gzip
import http.client
import os
from collections.abc import Generator, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from leasehold import PayloadRecord
from leasehold.gateway.routing.sharing import AT_ONCE, MOST_WAITING
from tests.gateway.fakes.running import RunningGateway, running_service
from tests.support.saved import AFTER, BEFORE, save
from tests.support.waiting import PATIENCE


@pytest.fixture
def saved(database_url: str, tmp_path: Path) -> list[PayloadRecord]:
    return save(database_url, tmp_path, BEFORE, AFTER, key="101", metadata={"products": 3})


@pytest.fixture
def gateway(database_url: str, tmp_path: Path, saved: list[PayloadRecord]) -> Generator[RunningGateway]:
    with running_service(database_url, payloads_store=str(tmp_path)) as gateway:
        yield gateway


def get(
    gateway: RunningGateway, path: str, method: str = "GET", **headers: str
) -> tuple[int, Mapping[str, str], bytes]:
    """The bytes of an answer, as they come."""
    answer = gateway.fetch(path, {name.replace("_", "-"): value for name, value in headers.items()}, method)
    return answer.status, answer.headers, answer.body


def shown(payload: PayloadRecord) -> Any:
    return msgspec.to_builtins(payload)


def test_payloads_are_listed_by_page_and_by_key(gateway: RunningGateway, saved: list[PayloadRecord]) -> None:
    first = gateway.call("GET", "/api/payloads?limit=1").body
    assert first["items"] == [shown(saved[1])]
    assert gateway.call("GET", f"/api/payloads?limit=1&cursor={first['next']}").body["items"] == [shown(saved[0])]
    assert gateway.call("GET", "/api/payloads/store/101").body["items"] == [shown(saved[1]), shown(saved[0])]
    assert gateway.call("GET", "/api/payloads/store/102").body == {"items": [], "next": None}
    assert gateway.call("GET", f"/api/payloads/{saved[0].id}").body == shown(saved[0])
    assert gateway.call("GET", "/api/payloads/store/101/latest").body == shown(saved[1])


def test_what_is_not_there_is_said(gateway: RunningGateway) -> None:
    for path in (
        "/api/payloads/99",
        "/api/payloads/99/data",
        "/api/payloads/store/102/latest",
        "/api/payloads/store/102/diff",
    ):
        answer = gateway.call("GET", path)
        assert (answer.status, answer.body["code"]) == (404, "unknown_payload"), path


def test_the_diff_is_the_answer_that_clients_of_the_other_system_know(
    gateway: RunningGateway, saved: list[PayloadRecord]
) -> None:
    before, after = saved
    body = gateway.call("GET", f"/api/payloads/store/101/diff?from={before.id}&to={after.id}").body
    sides = [(body[side]["id"], body[side]["productCount"]) for side in ("from", "to")]
    assert sides == [(before.id, 3), (after.id, 3)]
    assert body["from"]["fetchedAt"] == shown(before)["created_at"]
    assert list(body) == ["success", "from", "to", "diff", "details"]
    assert body["success"] is True
    assert body["diff"] == {"added": 1, "removed": 1, "priceChanges": 1, "stockChanges": 1}
    assert body["details"] == {
        "added": [{"id": 4, "name": "no. 4", "price": 7.0, "stock": 1}],
        "removed": [{"id": 2, "name": "no. 2", "price": 4.0, "stock": 0}],
        "priceChanges": [{"key": 1, "from": 2.5, "to": 2.75, "name": "no. 1"}],
        "stockChanges": [{"key": 3, "from": 9, "to": 8, "name": "no. 3"}],
    }
    assert gateway.call("GET", "/api/payloads/store/101/diff").body == body
    none = gateway.call("GET", "/api/payloads/store/101/diff?fields=brand&limit=0").body
    assert none["diff"] == {"added": 1, "removed": 1, "brandChanges": 0}
    assert none["details"] == {"added": [], "removed": [], "brandChanges": []}


def test_a_diff_of_unlike_things_is_refused(
    gateway: RunningGateway, saved: list[PayloadRecord], database_url: str, tmp_path: Path
) -> None:
    [image] = save(database_url, tmp_path, b"\x89PNG", key="101", kind="image", media_type="image/png")
    [raw] = save(database_url, tmp_path, b"\x89PNG", key="101", media_type="image/png")
    [other] = save(database_url, tmp_path, BEFORE, key="102")
    for query, status, complaint in (
        (f"from={saved[0].id}&to={image.id}", 422, "one is a catalogue, the other a image"),
        (f"from={saved[0].id}&to={raw.id}", 422, "is image/png, not JSON"),
        (f"from={saved[0].id}&to={other.id}", 404, "is not about '101'"),
        (f"from={saved[0].id}&to={saved[1].id}&record_key=sku", 422, "missing required field"),
        (f"from={saved[0].id}&to={saved[1].id}&records=x", 422, "there is no 'x' in the payload"),
        (f"to={saved[0].id}", 404, "a diff needs two"),
    ):
        answer = gateway.call("GET", f"/api/payloads/store/101/diff?{query}")
        assert (answer.status, complaint in answer.body["detail"]) == (status, True), answer.body


def test_the_content_comes_as_it_was_saved_or_as_it_is_stored(
    gateway: RunningGateway, saved: list[PayloadRecord], tmp_path: Path
) -> None:
    path, content = f"/api/payloads/{saved[0].id}/data", msgspec.json.encode(BEFORE)
    status, headers, body = get(gateway, path)
    assert (status, body) == (200, content)
    assert headers["Content-Type"] == "application/json"
    assert headers["Content-Length"] == str(saved[0].size)
    assert headers["Content-Disposition"].startswith('attachment; filename="store_101_')
    assert "Content-Encoding" not in headers
    status, packed, body = get(gateway, path, Accept_Encoding="br, gzip;q=0.5", Accept="application/json")
    assert (packed["Content-Encoding"], packed["Content-Length"]) == ("gzip", str(saved[0].compressed_size))
    assert body == (tmp_path / saved[0].location).read_bytes()
    assert gzip.decompress(body) == content
    assert packed["ETag"] != headers["ETag"]
    assert "Content-Encoding" not in get(gateway, path, Accept_Encoding="gzip;q=0")[1]
    assert get(gateway, path, If_None_Match=headers["ETag"])[0] == 304
    assert get(gateway, path, "HEAD")[::2] == (200, b"")


def test_a_part_of_the_content_is_had_with_range(
    gateway: RunningGateway, saved: list[PayloadRecord], database_url: str, tmp_path: Path
) -> None:
    content = bytes(range(256)) * 9_000
    for codec in ("gzip", "none"):
        [payload] = save(database_url, tmp_path, content, codec=codec)
        path = f"/api/payloads/{payload.id}/data"
        for header, start, stop in (
            ("bytes=0-9", 0, 10),
            ("bytes=2000000-2000099", 2_000_000, 2_000_100),
            ("bytes=1500000-", 1_500_000, len(content)),
            ("bytes=-7", len(content) - 7, len(content)),
            ("bytes=2300000-99999999", 2_300_000, len(content)),
        ):
            status, headers, body = get(gateway, path, Range=header, Accept_Encoding="gzip")
            assert (status, body == content[start:stop]) == (206, True), (codec, header)
            assert headers["Content-Range"] == f"bytes {start}-{stop - 1}/{len(content)}"
        assert get(gateway, path, Range="bytes=0-1,5-9")[0] == 200
        assert get(gateway, path, Range="bytes=0-9", If_Range='"other"')[0] == 200
        status, headers, _ = get(gateway, path, Range=f"bytes={len(content)}-")
        assert (status, headers["Content-Range"]) == (416, f"bytes */{len(content)}")


def test_what_is_damaged_or_lost_is_told_before_the_answer_begins(
    gateway: RunningGateway, saved: list[PayloadRecord], tmp_path: Path
) -> None:
    path, file = f"/api/payloads/{saved[0].id}/data", tmp_path / saved[0].location
    whole = file.read_bytes()
    other = gzip.compress(b" " * saved[0].size)
    for damaged in (whole[:-3], whole + b"x", os.urandom(len(whole)), other.ljust(len(whole), b"\0")[: len(whole)]):
        file.write_bytes(damaged)
        for headers in ({"Accept_Encoding": "identity"}, {"Accept_Encoding": "gzip"}, {"Range": "bytes=0-9"}):
            status, _, body = get(gateway, path, **headers)
            assert (status, b'"payload_damaged"' in body) == (502, True)
        answer = gateway.call("GET", "/api/payloads/store/101/diff")
        assert (answer.status, answer.body["code"]) == (502, "payload_damaged")
    file.unlink()
    file.mkdir()
    assert get(gateway, path)[0] in (502, 503)
    file.rmdir()
    for lost in (path, "/api/payloads/store/101/diff"):
        answer = gateway.call("GET", lost)
        assert (answer.status, answer.body["code"]) == (410, "payload_missing")
        # Readers learn which one is missing, and not where the store lies.
        assert answer.body["detail"] == f"{saved[0].location} is not in the payload store."
        assert str(tmp_path) not in str(answer.body)


def test_damage_that_is_found_on_the_way_cuts_the_answer_short(
    gateway: RunningGateway, database_url: str, tmp_path: Path
) -> None:
    content = os.urandom(3 << 20)
    for codec in ("gzip", "none"):
        [payload] = save(database_url, tmp_path, content, codec=codec)
        file = tmp_path / payload.location
        stored = bytearray(file.read_bytes())
        stored[-1 if codec == "none" else -5] ^= 1
        file.write_bytes(stored)
        for encoding in ("identity", "gzip"):
            with pytest.raises((http.client.IncompleteRead, ConnectionError)):
                get(gateway, f"/api/payloads/{payload.id}/data", Accept_Encoding=encoding)


def test_a_gateway_without_a_store_says_so(database_url: str, saved: list[PayloadRecord]) -> None:
    with running_service(database_url) as gateway:
        assert gateway.call("GET", "/api/payloads").body["items"][0] == shown(saved[1])
        answer = gateway.call("GET", f"/api/payloads/{saved[0].id}/data")
        assert (answer.status, answer.body["code"]) == (501, "no_payload_store")


def test_who_compares_payloads_takes_turns_and_one_too_many_is_told_to_come_back(
    gateway: RunningGateway, saved: list[PayloadRecord], tmp_path: Path
) -> None:
    path = tmp_path / saved[0].location
    content = path.read_bytes()
    path.unlink()
    os.mkfifo(path)  # whoever reads it waits
    most = AT_ONCE + MOST_WAITING
    with ThreadPoolExecutor(most + 1) as pool:
        asking = [pool.submit(gateway.call, "GET", "/api/payloads/store/101/diff") for _ in range(most + 1)]
        ended, waiting = wait(asking, timeout=PATIENCE, return_when=FIRST_COMPLETED)
        [refused] = [each.result() for each in ended]
        assert (refused.status, refused.body["code"], refused.headers["Retry-After"]) == (503, "too_many_diffs", "1")
        while wait(waiting, timeout=0.02).not_done:
            with suppress(OSError):  # nobody reads it at the moment
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        assert "too_many_diffs" not in {each.result().body["code"] for each in waiting}
    path.unlink()
    path.write_bytes(content)
    assert gateway.call("GET", "/api/payloads/store/101/diff").status == 200


def test_content_needs_operate_where_values_are_hidden_from_readers(
    database_url: str, tmp_path: Path, saved: list[PayloadRecord]
) -> None:
    secret = "of the settings, long enough"
    path = f"/api/payloads/{saved[0].id}"
    for keys, status in ((("*token",), 403), ((), 200)):
        with running_service(
            database_url, payloads_store=str(tmp_path), gateway_token=secret, gateway_hidden_keys=keys
        ) as gateway:
            bearer = gateway.token_with({"Authorization": f"Bearer {secret}"}, "read")["Authorization"]
            assert get(gateway, path, Authorization=bearer)[0] == 200
            assert get(gateway, f"{path}/data", Authorization=bearer)[0] == status
            assert get(gateway, f"{path}/data", Authorization=f"Bearer {secret}")[0] == 200
