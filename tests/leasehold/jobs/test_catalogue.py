from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any

import msgspec
import pytest

from leasehold.app import App
from leasehold.errors import BadInput, InvalidArgs
from leasehold.jobs.catalogue import describe_kind, describe_kinds, json_schema
from leasehold.jobs.endings import ContinueWith, RetryPolicy
from leasehold.jobs.job import Job
from leasehold.jobs.new_job import NewJob, Unique


def test_a_kind_says_its_options_and_the_schemas_of_its_args_and_output() -> None:
    app = App()

    @app.kind(
        queue="orders", priority=3, max_attempts=5, timeout=timedelta(seconds=30), deadline=60, key="args.order_id",
        key_group="args.tenant", retry=RetryPolicy(initial=2), unique=Unique(by=["args.order_id"]),
    )  # fmt: skip
    async def charge(job: Job, order_id: int, tenant: str = "none") -> ContinueWith[str]: ...

    assert describe_kind(charge) == {
        "kind": "charge", "queue": "orders", "priority": 3, "max_attempts": 5, "timeout": 30.0, "deadline": 60.0,
        "key": "args.order_id", "key_group": "args.tenant", "retry": {"initial": 2, "multiplier": 2.0, "cap": 300.0, "step": None},
        "unique": {"by": ["args.order_id"]}, "output_schema": {"type": "string"},
        "args_schema": {
            "title": "charge_args", "type": "object", "required": ["order_id"], "additionalProperties": False,
            "properties": {"order_id": {"type": "integer"}, "tenant": {"type": "string", "default": "none"}},
        },
    }  # fmt: skip


def test_a_kind_without_options_says_what_its_args_are_and_no_more() -> None:
    app = App()

    @app.kind(check_args=False)
    def tidy() -> None: ...

    @app.default_handler
    def anything(job: Job, args: dict[str, Any]) -> Any: ...

    assert anything is not None
    [told] = describe_kinds(app)
    assert told.pop("args_schema")["properties"] == {}
    assert told == {"kind": "tidy", "checks_args": False}
    assert app.default is not None
    assert describe_kind(app.default) == {"kind": "*"}


class Model:
    """As pydantic's are."""

    @classmethod
    def model_validate(cls, obj: Any) -> Model: ...

    def model_dump(self, *, mode: str) -> Any: ...


@dataclass
class Place:
    street: str


class Tree(msgspec.Struct):
    left: Tree | None = None


def test_what_is_read_from_numbers_too_and_what_reads_itself_is_not_held_to_strings() -> None:
    assert json_schema(Decimal) == {"type": ["string", "number"], "format": "decimal"}
    assert json_schema(Model) == {"title": "Model"}
    assert json_schema(Place) == {
        "title": "Place", "type": "object", "required": ["street"], "properties": {"street": {"type": "string"}}
    }  # fmt: skip
    assert json_schema(Annotated[datetime, msgspec.Meta(tz=True)]) == {"type": "string", "format": "date-time"}
    assert (json_schema(Sequence[int]) or {})["items"] == {"type": "integer"}


def test_a_type_that_contains_itself_keeps_its_definition() -> None:
    schema = json_schema(Tree)
    assert schema is not None
    assert {"$ref": "#/$defs/Tree"} in schema["properties"]["left"]["anyOf"]
    assert "Tree" in schema["$defs"]


def test_a_type_without_a_schema_has_none() -> None:
    assert json_schema(complex) in (None, {"title": "complex"})


def test_the_key_of_a_kind_comes_from_the_args_of_each_job_and_a_job_may_have_its_own() -> None:
    app = App()

    @app.kind(key="args.order.id", key_group="args.tenant")
    async def charge(order: dict[str, Any], tenant: int | None = None) -> None: ...

    made = charge.new(order={"id": 1.5}, tenant=7)
    assert (made.key, made.key_group) == ("1.5", "7")
    assert charge.new(order={}).key is None
    kept = charge.with_defaults(NewJob(kind="charge", args=msgspec.Raw(b'{"order": {"id": 1}}'), key="mine"))
    assert (kept.key, kept.key_group) == ("mine", None)
    with pytest.raises(InvalidArgs, match=r"the key of charge comes from args\.order\.id, which is a list"):
        charge.new(order={"id": []})


@pytest.mark.parametrize("place", ["order_id", "args", "args.", "args..a", 5])
def test_a_key_is_a_place_in_the_args(place: Any) -> None:
    app = App()
    with pytest.raises(BadInput, match="key of a kind must be a place in its args"):
        app.kind(key=place)


def test_a_key_names_an_arg_that_the_handler_takes() -> None:
    app = App()

    async def charge(order_id: int) -> None: ...

    with pytest.raises(BadInput, match=r"key names args\.order; charge takes \(order_id\)"):
        app.kind(key="args.order")(charge)
    with pytest.raises(BadInput, match="check_args must be True or False"):
        app.kind(check_args=0)(charge)  # pyright: ignore[reportArgumentType, reportCallIssue]
