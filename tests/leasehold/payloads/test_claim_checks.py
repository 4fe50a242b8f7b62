"""What stands in a row in the place of a large value."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from leasehold.payloads.claim_checks import ClaimCheck, find_check, summarize, write_check

CHECK = ClaimCheck(57, 5_000_000, "ab" * 32, {"products": "list of 105"})


def test_a_check_is_found_as_text_and_decoded() -> None:
    text = write_check(CHECK).decode()
    assert find_check(text) == CHECK
    assert find_check(text.replace('":', '": ')) == CHECK, "as Postgres writes it"
    assert find_check(msgspec.json.decode(text)) == CHECK


@pytest.mark.parametrize(
    "value",
    [
        None, 57, "text", '"$payload"', [], {}, {"$payload": 57}, {"$payload": {"id": 57}}, '{"$payload": {}}', '{"$payload"',
        {"$payload": {"id": "57", "size": 1, "sha256": "", "summary": None}},
        {"$payload": {"id": 57, "size": 1, "sha256": "", "summary": None}, "more": 1},
    ],
)  # fmt: skip
def test_everything_else_is_a_value_of_its_own(value: Any) -> None:
    assert find_check(value) is None


@pytest.mark.parametrize(
    ("value", "summary"),
    [
        ([1, 2, 3], "list of 3"),
        ("short", "short"),
        ("x" * 500, "x" * 100 + "…"),
        (None, None),
        ({"shop": 7, "open": True, "rate": 2.5, "none": None}, {"shop": 7, "open": True, "rate": 2.5, "none": None}),
        ({"products": [1] * 105, "meta": {"a": 1}}, {"products": "list of 105", "meta": "object of 1"}),
        ({"n" * 300: 1}, {"n" * 100 + "…": 1}),
        ({str(n): n for n in range(30)}, {str(n): n for n in range(20)} | {"…": "10 more"}),
    ],
)
def test_a_summary_is_short_and_says_how_much_there_is(value: Any, summary: Any) -> None:
    assert summarize(msgspec.json.encode(value)) == summary
