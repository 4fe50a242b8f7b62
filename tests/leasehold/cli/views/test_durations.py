from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from leasehold.cli.views import parse_duration, parse_instant
from leasehold.errors import BadInput
from leasehold.observability.wording import show_span


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("1h30m", 5400), ("500ms", 0.5), ("2d", 172_800), ("1.5h", 5400), ("0", 0)],
)
def test_spans_are_read_as_people_write_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "soon", "-5s", "1h30", "5 m", "3x", "1e5", "s", "9" * 40])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="duration"):
        parse_duration(text)


def test_instants_need_their_offset() -> None:
    assert parse_instant("2030-01-31T09:30:00Z") == datetime(2030, 1, 31, 9, 30, tzinfo=UTC)
    with pytest.raises(BadInput, match="end it with Z"):
        parse_instant("2030-01-31T09:30:00")
    with pytest.raises(BadInput, match="is no instant"):
        parse_instant("tomorrow")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-1, "0ms"),
        (0.0123, "12ms"),
        (1.53, "1.5s"),
        (12.9, "12s"),
        (60, "1m"),
        (200, "3m 20s"),
        (7500, "2h 5m"),
        (349_200, "4d 1h"),
    ],
)
def test_spans_are_shown_in_two_units_at_most(seconds: float, shown: str) -> None:
    assert show_span(seconds) == shown
