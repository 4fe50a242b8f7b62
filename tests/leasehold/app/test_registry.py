from __future__ import annotations

import doctest
import functools
from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from leasehold import App
from leasehold.app import FreeKind
from leasehold.app import registry as app_module
from leasehold.app.registry import builtin_app, dummy, echo, find_kind, with_builtins
from leasehold.errors import BadInput, DuplicateKind, InvalidArgs, UnknownKind
from leasehold.events import Event
from leasehold.jobs.endings import RetryPolicy
from leasehold.jobs.job import Job
from leasehold.jobs.kind import CheckedKindOptions
from tests.support.held import held_job


async def greet(name: str) -> str:
    return f"hello {name}"


async def anything(job: Job, args: dict[str, Any]) -> dict[str, Any]:
    return args


def test_a_registered_handler_is_found_by_name_with_its_options() -> None:
    app = App()
    made = app.kind("welcome", queue="mail", timeout=3.0, retry=RetryPolicy(cap=1.0))(greet)
    assert app.find("welcome") is made
    assert (made.options.queue, made.options.timeout, made.options.retry) == ("mail", 3.0, RetryPolicy(cap=1.0))
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


def test_a_default_handler_that_does_not_take_all_args_as_one_is_refused() -> None:
    async def job_alone(job: Job) -> None: ...

    async def named_args(job: Job, shop: int, page: int) -> None: ...

    for function, taken in ((job_alone, r"takes \(\)"), (named_args, r"takes \(shop, page\)")):
        with pytest.raises(InvalidArgs, match=taken):
            App().default_handler(cast(Any, function))


@pytest.mark.parametrize("encoded", ["{}", '{"a": [1, null]}', "[1]", "null", '"x"'])
def test_a_free_kind_takes_any_json_as_it_is(encoded: str) -> None:
    kind = FreeKind("echo", anything, None, CheckedKindOptions())
    assert list(kind.decode_args(encoded)) == ["args"]


@pytest.mark.parametrize("encoded", ["", "{", "[" * 100_000, "1e5000 "])
def test_a_free_kind_refuses_what_it_cannot_decode(encoded: str) -> None:
    with pytest.raises(InvalidArgs):
        FreeKind("echo", anything, None, CheckedKindOptions()).decode_args(encoded)


def test_the_examples_in_the_documentation_run() -> None:
    assert doctest.testmod(app_module).failed == 0


def test_a_kind_without_parentheses_is_registered_as_one_with_them() -> None:
    app = App()

    @app.kind
    async def ping(job: Job, name: str) -> str:
        return name

    assert app.find("ping") is ping
    assert ping.new(name="Ada").kind == "ping"


@pytest.mark.parametrize("name", [5, "", "a\nb", "x" * 201])
def test_a_name_that_is_none_is_refused(name: Any) -> None:
    with pytest.raises(BadInput, match="the name of a kind must be text"):
        App().kind(name)


def test_what_is_no_function_is_no_handler_no_middleware_and_no_subscriber() -> None:
    app, five = App(), cast("Any", 5)
    subscribe = functools.partial(app.subscribe, Event)
    registers: list[Any] = [app.kind(), app.middleware, app.enqueue_middleware, subscribe]
    for register in registers:
        with pytest.raises(BadInput, match="must be a function, not 5"):
            register(five)
    with pytest.raises(BadInput, match="a middleware must be a function, not 5"):
        App(middlewares=[five])
    with pytest.raises(BadInput, match="middlewares must be a list of functions, not 5"):
        App(middlewares=five)
    with pytest.raises(BadInput, match="version must be text, not 5"):
        App(version=five)
    assert app.served_kinds == []


def test_a_middleware_that_yields_is_refused() -> None:
    async def yielding(attempt: Any, call_next: Any) -> Any:
        yield await call_next()

    with pytest.raises(BadInput, match="is a generator; have it return what"):
        App(middlewares=[cast("Any", yielding)])


def test_a_middleware_that_takes_something_else_than_it_is_called_with_is_refused_when_it_is_registered() -> None:
    async def without_the_attempt(call_next: Any) -> Any:
        return await call_next()

    wrong = cast("Any", without_the_attempt)

    def to_an_app(middleware: Any) -> None:
        App(middlewares=[middleware])

    def to_a_kind(middleware: Any) -> None:
        App().kind(middlewares=[middleware])

    registers: list[Any] = [App().middleware, to_an_app, to_a_kind]
    for register in registers:
        with pytest.raises(
            BadInput,
            match=r"without_the_attempt takes \(call_next\); it is called with two arguments, the attempt and call_next$",
        ):
            register(wrong)
    with pytest.raises(
        BadInput, match=r"without_the_attempt takes .*; it is called with two arguments, the jobs and call_next$"
    ):
        App().enqueue_middleware(wrong)


def test_a_middleware_may_be_a_method_an_object_or_take_more_than_it_has_to() -> None:
    class Around:
        async def method(self, attempt: Any, call_next: Any, *, more: int = 0) -> Any:
            return await call_next()

        __call__ = method

    App(middlewares=[Around().method, Around(), functools.partial(Around().method, more=1)])


def test_a_handler_without_a_name_of_its_own_asks_for_one() -> None:
    nameless: Any = functools.partial(greet, "Ada")
    with pytest.raises(BadInput, match="has no name; give its kind one"):
        App().kind()(nameless)


def test_an_app_says_how_its_handlers_run_and_a_kind_may_say_otherwise() -> None:
    async def send(address: str) -> str:
        return address

    def count(numbers: list[int]) -> int:
        return sum(numbers)

    app = App(runs="asyncio")
    assert [app.kind("a")(send).runs, app.kind("b", runs="trio")(send).runs, app.kind("c")(count).runs] == [
        "asyncio",
        "trio",
        "thread",
    ]
    assert App().kind(send).runs == "trio"
    with pytest.raises(BadInput, match=r"its app has runs='thread': give the kind runs='asyncio' or runs='trio'"):
        App(runs="thread").kind(send)
    assert App(runs="thread").kind(runs="asyncio")(send).runs == "asyncio"
    with pytest.raises(BadInput, match="runs of an app must be one of trio, asyncio, thread"):
        App(runs="process")  # pyright: ignore[reportArgumentType]


def test_a_kind_is_called_like_its_function() -> None:
    @App().kind
    def count(numbers: list[int], start: int = 0) -> int:
        return sum(numbers, start)

    assert count([1, 2], start=3) == 6


def a_job(attempt: int = 1):
    return held_job(7, attempt=attempt).job("w1")


def test_a_fresh_worker_serves_echo_and_dummy() -> None:
    assert builtin_app().served_kinds == ["dummy", "echo"]


def test_an_app_is_served_beside_them_and_may_take_their_names() -> None:
    app = App()

    @app.kind("echo")
    async def own(text: str) -> str:
        return text

    assert with_builtins(None).served_kinds == ["dummy", "echo"]
    assert with_builtins(app).served_kinds == ["dummy", "echo"]
    assert with_builtins(app).find("echo") is own
    assert app.served_kinds == ["echo"]


def test_they_are_there_beside_a_default_handler_which_gets_all_other_kinds() -> None:
    app = App()
    app.default_handler(echo)
    served = with_builtins(app)
    assert served.served_kinds == []
    assert served.find("dummy").name == find_kind(app, "dummy").name == "dummy"
    assert served.find("other") is served.default
    assert find_kind(app, "other") is app.default


async def test_echo_answers_with_its_args() -> None:
    assert await echo(a_job(), {"a": [1]}) == {"a": [1]}


async def test_dummy_sleeps(autojump_clock: MockClock) -> None:
    assert await dummy(a_job(), seconds=60) == "dummy 7 done"
    assert trio.current_time() == 60


async def test_dummy_fails_as_often_as_it_is_told() -> None:
    for attempt in (1, 2):
        with pytest.raises(RuntimeError, match=f"attempt {attempt}"):
            await dummy(a_job(attempt), fail_attempts=2)
    assert await dummy(a_job(3), fail_attempts=2) == "dummy 7 done"


def test_the_version_of_the_app_is_kept() -> None:
    assert with_builtins(App(version="7.1")).version == "7.1"
    assert with_builtins(None).version is None


def test_a_client_finds_them_where_its_app_has_none_of_these_names() -> None:
    app = App()
    assert find_kind(app, "echo").function is echo

    @app.kind("echo")
    async def own(text: str) -> str:
        return text

    assert find_kind(app, "echo") is own
    assert find_kind(app, "dummy").function is dummy
