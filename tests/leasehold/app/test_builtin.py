from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from leasehold import App
from leasehold.actors.identity import WorkerIdentity
from leasehold.app.builtin import builtin_app, dummy, echo, find_kind, with_builtins
from tests.support.held import held_job


def a_job(attempt: int = 1):
    return held_job(7, attempt=attempt).job(WorkerIdentity("w1"))


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
