from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import msgspec
import pytest

from leasehold.errors import BadInput
from leasehold.payloads.content import content_of

NAN, INFINITY = float("nan"), float("inf")


@dataclass
class Price:
    amount: float
    currency: str | None = None


class Product(msgspec.Struct):
    name: str
    prices: list[Price]


def saved(value: Any) -> bytes:
    return b"".join(cast("Iterable[bytes]", content_of(value).pieces))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (NAN, r"nan at \$,"),
        (INFINITY, r"inf at \$,"),
        (-INFINITY, r"-inf at \$,"),
        ({"products": [{"price": 1.5}, {"price": NAN}]}, r"nan at \$\.products\[1\]\.price,"),
        ((1, (2, INFINITY)), r"inf at \$\[1\]\[1\],"),
        (Product("tea", [Price(1.0), Price(NAN)]), r"nan at \$\.prices\[1\]\.amount,"),
        ({7: {"x": NAN}}, r"nan at \$\.7\.x,"),
        ([2**70, NAN], r"nan at \$\[1\],"),
    ],
)
def test_a_number_that_json_does_not_have_is_refused_with_its_place(value: Any, told: str) -> None:
    with pytest.raises(BadInput, match=f"the payload has {told} which is no JSON number"):
        content_of(value)


@pytest.mark.parametrize(
    "value",
    [
        None,
        {"price": None, "stock": 1.5, "most": 1.7976931348623157e308},
        ["null", "NaN", "\xcb\x7f\xf8"],
        [None, 2**70],
        {"like one": [None, 0xCB7FF8, "Ëÿð"]},
    ],
)
def test_nulls_and_what_only_looks_like_such_a_number_are_saved_as_they_are(value: Any) -> None:
    assert msgspec.json.decode(saved(value)) == value


def test_bytes_are_no_json_and_saved_as_they_are() -> None:
    assert saved(b"\xcb\x7f\xf8 null") == b"\xcb\x7f\xf8 null"
