from __future__ import annotations

import pytest

from leasehold.gateway.http.problems import Refusal
from leasehold.gateway.nouns.payloads_content import range_of

CASES: list[tuple[str | None, tuple[int, int] | None]] = [
    (None, None),
    ("bytes=0-9", (0, 10)),
    ("bytes=5-5", (5, 6)),
    ("bytes=90-", (90, 100)),
    ("bytes=-10", (90, 100)),
    ("bytes=-1000", (0, 100)),
    ("bytes=50-1000", (50, 100)),
    ("bytes=9-5", None),
    ("bytes=-", None),
    ("bytes=0-1,4-5", None),
    ("items=0-1", None),
    ("bytes=a-b", None),
    ("bytes=٣-٤", None),
]


def test_one_range_of_bytes_is_read_and_the_rest_ignored() -> None:
    for header, expected in CASES:
        assert range_of(header, 100) == expected


@pytest.mark.parametrize("header", ["bytes=100-", "bytes=100-200", "bytes=-0"])
def test_a_range_behind_the_end_cannot_be_had(header: str) -> None:
    with pytest.raises(Refusal):
        range_of(header, 100)


def test_of_nothing_there_is_no_range() -> None:
    with pytest.raises(Refusal):
        range_of("bytes=0-", 0)
