from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from leasehold.payloads.archive import location_of

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
JSON = "application/json"


@pytest.mark.parametrize(
    ("key", "media_type", "codec", "location"),
    [
        ("101", JSON, "gzip", "2026/01/02/store_101_20260102T030405Z-7.json.gz"),
        (None, JSON, "gzip", "2026/01/02/payload_20260102T030405Z-7.json.gz"),
        ("a b/../c", JSON, "none", "2026/01/02/store_a-b-..-c_20260102T030405Z-7.json"),
        ("é" * 200, "image/png", "gzip", f"2026/01/02/store_{'-' * 100}_20260102T030405Z-7.bin.gz"),
    ],
)
def test_the_place_is_named_after_day_key_time_and_number(
    key: str | None, media_type: str, codec: str, location: str
) -> None:
    assert location_of(7, AT, key, media_type, codec) == location


def test_the_day_is_that_of_utc() -> None:
    at = datetime(2026, 1, 1, 23, 0, tzinfo=timezone(timedelta(hours=-5)))
    assert location_of(7, at, None, JSON, "gzip").startswith("2026/01/02/payload_20260102T040000Z")
