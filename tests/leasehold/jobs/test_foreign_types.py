from __future__ import annotations

import enum
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, NewType, TypedDict
from uuid import UUID

import annotated_types
import attrs
import msgspec
import pydantic
import pytest
from pydantic.alias_generators import to_camel

from leasehold.app import App
from leasehold.errors import InvalidArgs
from leasehold.jobs.arguments import encode_args
from leasehold.jobs.catalogue import promise_of, typed_blocker, typed_output


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


class Camel(pydantic.BaseModel):
    """Wants its first field under an alias, and may have the second."""

    model_config = pydantic.ConfigDict(alias_generator=to_camel)
    order_id: int
    ship_to: str = "nowhere"


def camel(order_id: int, ship_to: str = "nowhere") -> Camel:
    return Camel.model_validate({"orderId": order_id, "shipTo": ship_to})


class Renamed(pydantic.BaseModel):
    """Is read under other names than it is written for the outside."""

    order_id: int = pydantic.Field(default=0, serialization_alias="orderId")


class Crate(pydantic.BaseModel):
    """Has one that is written for the outside under other names."""

    items: list[Renamed]


class Choosy(pydantic.BaseModel):
    """Is read under two names, and written under the second."""

    n: int = pydantic.Field(default=0, validation_alias=pydantic.AliasChoices("a", "b"), serialization_alias="b")


class Total(pydantic.BaseModel):
    """Refuses to read the field that it computes."""

    model_config = pydantic.ConfigDict(extra="forbid")
    cents: int

    @pydantic.computed_field
    @property
    def francs(self) -> float:
        return self.cents / 100


class Shown(pydantic.BaseModel):
    """Gives its secret away in JSON."""

    key: pydantic.SecretStr

    @pydantic.field_serializer("key")
    def shown(self, key: pydantic.SecretStr) -> str:
        return key.get_secret_value()


class Draft(pydantic.BaseModel):
    """Leaves fields out of JSON, and keeps one to itself."""

    text: str = ""
    note: str = pydantic.Field(default="", exclude=True)
    password: pydantic.SecretStr = pydantic.SecretStr("")
    anything: Any = None
    _seen: int = pydantic.PrivateAttr(default=0)

    def seen(self, times: int) -> Draft:
        self._seen = times
        return self


class Parcel(msgspec.Struct):
    """Holds a model."""

    order: Camel
    draft: Draft | None = None


@attrs.define
class Wallet:
    """Hides what is in it."""

    owner: str
    _cents: int = 0


@attrs.define
class Cached:
    """Hides what does not count."""

    width: int
    _area: int = attrs.field(default=0, eq=False)


class Safe(msgspec.Struct):
    wallets: list[Wallet]


EXAMPLES: list[tuple[Any, Any]] = [
    (Address, Address(city="Bern", since=date(2026, 1, 2))),
    (list[Address], [Address(city="Bern")]),
    (dict[str, Address] | None, {"home": Address(city="Bern")}),
    (Camel, camel(7, "Bern")),
    (list[Camel], [camel(7)]),
    (Parcel, Parcel(camel(7, "Bern"))),
    (Renamed, Renamed(order_id=7)),
    (Crate, Crate(items=[Renamed(order_id=7)])),
    (Choosy, Choosy.model_validate({"b": 7})),
    (Total, Total(cents=990)),
    (Shown, Shown(key=pydantic.SecretStr("open sesame"))),
    (Draft, Draft(text="Dear Ada")),
    (Cached, Cached(3)),
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


class Computed(pydantic.BaseModel):
    """Does not mind the field that it computes."""

    cents: int

    @pydantic.computed_field
    @property
    def francs(self) -> float:
        return self.cents / 100


def test_a_model_is_in_json_as_it_shows_itself_there() -> None:
    assert encode_args(camel(7, "Bern"), "output") == b'{"orderId":7,"shipTo":"Bern"}'
    assert encode_args(Renamed(order_id=7), "output") == b'{"order_id":7}'
    assert encode_args(Computed(cents=990), "output") == b'{"cents":990,"francs":9.9}'


def test_outputs_of_models_with_aliases_reach_who_waits_for_them() -> None:
    output = msgspec.json.decode(encode_args(Parcel(camel(7, "Bern")), "output"))
    assert typed_blocker(Parcel, output, 1, 7) == Parcel(camel(7, "Bern"))


@pytest.mark.parametrize(
    ("draft", "problem"),
    [
        (Draft(note="for me"), "note would not come back equal"),
        (Draft(password=pydantic.SecretStr("open sesame")), "password would not come back equal"),
        (Draft(anything=(1, 2)), "anything would not come back equal"),
        (Draft().seen(3), "a private attribute would not come back equal"),
        (Draft.model_construct(text=3), "model_validate refuses what model_dump gives"),
    ],
    ids=["excluded", "secret", "tuple", "private", "invalid"],
)
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_a_model_that_would_not_come_back_equal_is_refused_with_its_name_and_what_to_do(
    draft: Draft, problem: str
) -> None:
    def write(draft: Draft) -> None: ...
    def send(parcel: Parcel) -> None: ...

    kind, outer = App().kind(write), App().kind(send)
    said = f"Draft does not survive JSON: {problem}.*pass an id, or a type of yours"
    with pytest.raises(InvalidArgs, match=f"(?s)args of write: {said}") as refused:
        kind.new(draft)
    assert "open sesame" not in str(refused.value)
    with pytest.raises(InvalidArgs, match=f"(?s)args of send: {said}"):
        outer.new(Parcel(camel(7), draft))
    with pytest.raises(InvalidArgs, match=f"(?s)output: {said}"):
        encode_args([draft], "output")


def test_an_attrs_class_with_a_private_attribute_is_refused_where_the_kind_is_declared() -> None:
    def pay(wallet: Wallet) -> None: ...
    def keep(safes: dict[str, Safe] | None = None) -> None: ...
    def find() -> list[Wallet]: ...

    said = "Wallet is an attrs class, of which JSON leaves out _cents; name it cents, or take a dataclass"
    for function, place in ((pay, "wallet"), (keep, "safes"), (find, "its output")):
        with pytest.raises(InvalidArgs, match=f"handler .*{function.__name__}: {place}: {said}"):
            App().kind(function)


@pytest.mark.parametrize("value", [Wallet("Ada", 5), [1, Wallet("Ada", 5)], {"of": Wallet("Ada", 5)}])
def test_an_attrs_class_with_a_private_attribute_is_refused_where_nobody_declared_it(value: object) -> None:
    with pytest.raises(InvalidArgs, match="output: Wallet is an attrs class, of which JSON leaves out _cents"):
        encode_args(value, "output")


Quantity = NewType("Quantity", Annotated[int, pydantic.Field(ge=10)])  # pyright: ignore[reportGeneralTypeIssues]


@pytest.mark.parametrize(
    "hint",
    [
        pydantic.PositiveInt,
        Annotated[int, pydantic.Field(ge=10)],
        Annotated[str, pydantic.StringConstraints(min_length=1)],
        Annotated[str, pydantic.Field(pattern="^a")],
        Annotated[int, pydantic.AfterValidator(abs)],
        pydantic.UUID4,
        Annotated[str, annotated_types.Len(1, 2)],
        list[pydantic.PositiveInt],
        dict[str, Annotated[int, annotated_types.Gt(0)]] | None,
        Quantity,
    ],
    ids=str,
)
def test_a_constraint_that_nobody_would_check_is_refused_where_the_kind_is_declared(hint: Any) -> None:
    def buy(amount: Any) -> None: ...

    buy.__annotations__["amount"] = hint
    with pytest.raises(
        InvalidArgs, match=r"buy: amount: nobody would check .*msgspec\.Meta\(ge=10\)\], or take a pydantic"
    ):
        App().kind(buy)


@pytest.mark.parametrize(
    "hint",
    [
        Annotated[int, "how many"],
        Annotated[int, msgspec.Meta(ge=10)],
        Annotated[int, pydantic.Field(description="how many")],
        Annotated[float, annotated_types.Unit("m")],
        pydantic.StrictInt,
        pydantic.FiniteFloat,
    ],
    ids=str,
)
def test_other_metadata_of_an_annotation_stays(hint: Any) -> None:
    def buy(amount: Any) -> None: ...

    buy.__annotations__["amount"] = hint
    assert App().kind(buy).decode('{"amount": 11}') == {"amount": 11}


def test_none_of_these_libraries_is_loaded_for_types_that_are_not_theirs() -> None:
    code = (
        "import sys\nfrom leasehold import App\n"
        "def ship(n: int) -> list[int]: ...\n"
        "App().kind(ship).new(3)\nassert not {'pydantic', 'annotated_types'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
