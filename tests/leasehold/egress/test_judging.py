from __future__ import annotations

from datetime import UTC, datetime

import pytest

from leasehold.egress.judging import Fared, judge, retry_after

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "headers", "verdict"),
    [
        (200, {}, Fared("fine")),
        (404, {}, Fared("fine")),
        (500, {}, Fared("fine")),
        (503, {}, Fared("fine")),
        (503, {"Retry-After": "7"}, Fared("busy", 7.0)),
        (403, {}, Fared("refused")),
        (403, {"Retry-After": "60"}, Fared("refused", 60.0)),
        (429, {}, Fared("busy")),
        (407, {}, Fared("unreachable")),
    ],
)
def test_an_answer_is_judged(status: int, headers: dict[str, str], verdict: Fared) -> None:
    assert judge(status, headers, NOON) == verdict


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("12", 12.0),
        (" 0 ", 0.0),
        ("Thu, 01 Jan 2026 12:01:30 GMT", 90.0),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
        ("99999999999", 86_400.0),
        ("-5", None),
        ("soon", None),
        ("²", None),
        ("", None),
    ],
)
def test_retry_after_is_a_number_or_a_date(text: str | None, seconds: float | None) -> None:
    assert retry_after(text, NOON) == seconds
