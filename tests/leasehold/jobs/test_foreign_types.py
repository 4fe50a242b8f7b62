from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, TypedDict
from uuid import UUID

import attrs
import pydantic
import pytest

from leasehold.app import App
from leasehold.errors import InvalidArgs
from leasehold.jobs.arguments import encode_args
from leasehold.jobs.catalogue import promise_of, typed_output


class Address(pydantic.BaseModel):
    city: str
    since: date | None = None


@dataclass
class Item:
    name: str
    price: Decimal


@attrs.define
class Box:
    width: int


class Options(TypedDict, total=False):
    fragile: bool


class Speed(enum.Enum):
    SLOW = "slow"


EXAMPLES: list[tuple[Any, Any]] = [
    (Address, Address(city="Bern", since=date(2026, 1, 2))),
    (list[Address], [Address(city="Bern")]),
    (dict[str, Address] | None, {"home": Address(city="Bern")}),
    (Item, Item("book", Decimal("9.90"))),
    (Box, Box(3)),
    (Options, {"fragile": True}),
    (Speed, Speed.SLOW),
    (datetime, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
    (timedelta, timedelta(days=3)),
    (UUID, UUID(int=7)),
    (Decimal, Decimal("0.10")),
]


@pytest.mark.parametrize(("hint", "value"), EXAMPLES, ids=lambda each: str(each)[:30])
def test_args_and_outputs_come_back_as_they_were(hint: Any, value: Any) -> None:
    def handler(value: Any) -> Any:
        return value

    handler.__annotations__ = {"value": hint, "return": hint}
    kind = App().kind(handler)
    encoded = kind.encode({"value": value})
    assert kind.decode(encoded) == {"value": value}
    output = encode_args(value, "output")
    assert promise_of(kind).broken_by(value, output) is None
    assert typed_output(kind, kind.decode(encoded)["value"]) == value


def test_a_model_that_refuses_its_args_says_why() -> None:
    def ship(to: Address) -> None: ...

    kind = App().kind(ship)
    with pytest.raises(InvalidArgs, match=r"(?s)args do not fit ship\(to\): .*city"):
        kind.decode('{"to": {"town": "Bern"}}')
    with pytest.raises(InvalidArgs, match="city"):
        kind.new(to={"town": "Bern"})  # pyright: ignore[reportArgumentType]
