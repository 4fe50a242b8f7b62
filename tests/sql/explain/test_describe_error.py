from __future__ import annotations

import pytest

from leasehold.database import Database


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ('{"type": "ValueError", "message": "boom", "traceback": "…"}', "ValueError: boom"),
        (
            '{"type": "ValueError", "message": "boom", "place": "shop.py:7 in pay"}',
            "ValueError: boom (shop.py:7 in pay)",
        ),
        ('{"message": "boom"}', "boom"),
        ('{"type": "Timeout"}', "Timeout"),
        ("{}", None),
        ('"plain text"', "plain text"),
        ("[1, 2]", "[1, 2]"),
        ("null", None),
        (None, None),
    ],
)
async def test_an_error_in_one_line(database: Database, error: str | None, text: str | None) -> None:
    assert await database.call_value("describe_error", error) == text
