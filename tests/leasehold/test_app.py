from __future__ import annotations

import doctest
from typing import Any

import pytest

from leasehold import app as app_module
from leasehold.app import App, FreeKind
from leasehold.errors import DuplicateKind, InvalidArgs, UnknownKind
from leasehold.job import Job
from leasehold.kind import KindOptions
from leasehold.retry import RetryPolicy


async def greet(name: str) -> str:
    return f"hello {name}"


async def anything(job: Job, args: dict[str, Any]) -> dict[str, Any]:
    return args


def test_a_registered_handler_is_found_by_name_with_its_options() -> None:
    app = App()
    made = app.kind("welcome", queue="mail", timeout=3.0, retry=RetryPolicy(cap=1.0))(greet)
    assert app.find("welcome") is made
    assert (made.options.queue, made.options.timeout, made.options.retry.cap) == ("mail", 3.0, 1.0)
    assert "welcome" in app
    assert app.served_kinds == ["welcome"]


def test_a_handler_without_a_name_gets_that_of_its_function() -> None:
    app = App()
    app.kind()(greet)
    assert app.served_kinds == ["greet"]


def test_a_name_is_given_once() -> None:
    app = App()
    app.kind()(greet)
    with pytest.raises(DuplicateKind, match=r"'greet' has a handler already: .*greet"):
        app.kind()(greet)


def test_apps_are_merged_and_refuse_each_others_names() -> None:
    one, two = App(), App()
    one.kind("a")(greet)
    two.kind("b")(greet)
    one.merge(two)
    assert one.served_kinds == ["a", "b"]
    with pytest.raises(DuplicateKind):
        one.merge(two)


def test_an_unknown_kind_is_told_with_those_that_are_known() -> None:
    app = App()
    with pytest.raises(UnknownKind, match="there are: none"):
        app.find("gret")
    app.kind()(greet)
    with pytest.raises(UnknownKind, match="'gret'; there are: greet"):
        app.find("gret")


def test_the_default_handler_has_every_kind_that_nobody_registered() -> None:
    app = App()
    app.kind()(greet)
    app.default_handler(anything)
    assert app.find("greet").function is greet
    assert app.find("whatever").function is anything
    assert app.served_kinds == []


@pytest.mark.parametrize("encoded", ["{}", '{"a": [1, null]}', "[1]", "null", '"x"'])
def test_a_free_kind_takes_any_json_as_it_is(encoded: str) -> None:
    kind = FreeKind("echo", anything, None, KindOptions())
    assert list(kind.decode_args(encoded)) == ["args"]


@pytest.mark.parametrize("encoded", ["", "{", "[" * 100_000, "1e5000 "])
def test_a_free_kind_refuses_what_it_cannot_decode(encoded: str) -> None:
    with pytest.raises(InvalidArgs):
        FreeKind("echo", anything, None, KindOptions()).decode_args(encoded)


def test_the_examples_in_the_documentation_run() -> None:
    assert doctest.testmod(app_module).failed == 0
