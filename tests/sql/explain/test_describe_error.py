from __future__ import annotations

from leasehold.database import Database

CASES: list[tuple[str | None, str | None]] = [
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
]


async def test_an_error_in_one_line(database: Database) -> None:
    for error, text in CASES:
        assert await database.call_value("describe_error", error) == text
