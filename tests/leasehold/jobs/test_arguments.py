from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leasehold.errors import InvalidArgs
from leasehold.jobs.arguments import MAX_DEPTH, args_type, encode_args, takes_job
from leasehold.jobs.job import Job


class Shop:
    """Has a method that is no handler until the shop is there."""

    def pay(self, order: int) -> None: ...


class Place(msgspec.Struct):
    """Holds what JSON cannot become."""

    path: Path
    within: list[Place]


def annotated(job: Job, n: int) -> None: ...


def by_name(job, n): ...  # pyright: ignore


def typed_otherwise(job: str) -> None: ...


def second(n: int, job: Job) -> None: ...


def nothing() -> None: ...


@pytest.mark.parametrize(
    ("function", "expected"),
    [(annotated, True), (cast("Any", by_name), True), (typed_otherwise, False), (second, False), (nothing, False)],
)
def test_the_first_parameter_is_the_job_by_its_type_or_where_it_has_none_by_its_name(
    function: Callable[..., Any], expected: bool
) -> None:
    assert takes_job(function) is expected


def test_each_parameter_but_the_job_is_a_field_with_its_type_and_default() -> None:
    def handler(job: Job, n: int, name: str = "x", *, tags: list[str] = ["a"]) -> None: ...  # noqa: B006

    made = args_type(handler)
    assert made.__struct_fields__ == ("n", "name", "tags")
    one, two = msgspec.convert({"n": 1}, made), msgspec.convert({"n": 1}, made)
    assert (one.name, one.tags) == ("x", ["a"])  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    assert one.tags is not two.tags  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"n": 1, "more": 2}, made)


def test_a_decorated_handler_keeps_the_signature_of_what_it_wraps() -> None:
    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    assert takes_job(logged(annotated))
    assert args_type(logged(annotated)).__struct_fields__ == ("n",)


def starred(*names: str) -> None: ...


def double_starred(**names: str) -> None: ...


def positional(n: int, /) -> None: ...


def unresolved(n: Nowhere) -> None: ...  # noqa: F821  # pyright: ignore[reportUndefinedVariable, reportUnknownParameterType]


@pytest.mark.parametrize("function", [starred, double_starred, positional, cast("Any", unresolved)])
def test_a_signature_that_json_cannot_express_is_refused_with_the_name_of_the_handler(
    function: Callable[..., Any],
) -> None:
    with pytest.raises(InvalidArgs, match=function.__name__):
        args_type(function)


@dataclass
class Point:
    x: float
    y: float


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        ({"a": 1}, '{"a":1}'),
        ({1: "one", UUID(int=1): 2}, '{"1":"one","00000000-0000-0000-0000-000000000001":2}'),
        (Point(1.0, 2.0), '{"x":1.0,"y":2.0}'),
        ((1, {2}, frozenset({3})), "[1,[2],[3]]"),
        (datetime(2026, 1, 1, tzinfo=UTC), '"2026-01-01T00:00:00Z"'),
        (b"\x00", '"AA=="'),
        ("\u2028 \x01 é", '"\u2028 \\u0001 é"'),
    ],
)
def test_what_json_can_carry_is_encoded(value: object, encoded: str) -> None:
    assert encode_args(value, "args").decode() == encoded


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ({"a": {"b": [1, math.nan]}}, r"args\.a\.b\[1\]: nan is no JSON number"),
        ({"a": -math.inf}, r"args\.a: -inf"),
        ({"a": "x\x00"}, r"args\.a: \\u0000"),
        ({"a\x00": 1}, r"args key .*\\u0000"),
        ({"a": "\ud800"}, "args: .*surrogates"),
        ({"a": object()}, "args: .*object"),
        (nested(MAX_DEPTH + 1), f"nested deeper than {MAX_DEPTH}"),
        (nested(100_000), f"nested deeper than {MAX_DEPTH}"),
    ],
)
def test_what_postgres_cannot_keep_is_refused_with_its_place(value: object, complaint: str) -> None:
    with pytest.raises(InvalidArgs, match=complaint):
        encode_args(value, "args")


def test_the_deepest_that_is_allowed_passes() -> None:
    assert encode_args(nested(MAX_DEPTH), "args")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=20,
)


@given(json_values)
def test_any_value_is_either_refused_cleanly_or_carried_unchanged(value: object) -> None:
    try:
        encoded = encode_args(value, "args")
    except InvalidArgs:
        return
    assert msgspec.json.decode(encoded) == value
    assert b"\\u0000" not in encoded


def by_keyword(*, job: Job) -> None: ...


def perhaps(job: Job | None) -> None: ...


def two_jobs(job: Job, other: Job) -> None: ...


@pytest.mark.parametrize("function", [second, by_keyword, perhaps, two_jobs])
def test_the_job_elsewhere_than_first_is_refused_in_words(function: Callable[..., Any]) -> None:
    with pytest.raises(InvalidArgs, match=rf"handler {function.__name__}: (job|other): Job must come first"):
        args_type(function)


def test_types_that_json_cannot_become_are_refused_however_deep() -> None:
    def flat(path: Path) -> None: ...
    def deep(places: dict[str, Place]) -> None: ...
    def calls_back(done: Callable[[], None]) -> None: ...
    def anything(value: object, other: Any) -> None: ...

    for function, stranger in ((flat, "Path"), (deep, "Path"), (calls_back, "Callable")):
        with pytest.raises(InvalidArgs, match=f"JSON cannot become a {stranger}; take a str"):
            args_type(function)
    assert args_type(anything).__struct_fields__ == ("value", "other")


def test_a_method_is_a_handler_only_together_with_its_instance() -> None:
    with pytest.raises(InvalidArgs, match=r"pay: no job brings self; register a function, or a method of an instance"):
        args_type(Shop.pay)
    assert args_type(Shop().pay).__struct_fields__ == ("order",)
