from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from leasehold import App
from leasehold.errors import BadInput
from leasehold.jobs.job_host import Context


async def opens(state: Context) -> None: ...


def closes(state: Context) -> None: ...


def runs_of(app: App) -> list[str]:
    return [each.runs for each in (*app.starts, *app.stops)]


def test_a_function_runs_as_handlers_of_its_app_do_unless_it_says_otherwise() -> None:
    app = App(runs="asyncio")
    assert app.on_start(opens) is opens
    app.on_start(runs="trio")(opens)
    app.on_stop(closes)
    assert runs_of(app) == ["asyncio", "trio", "thread"]


def test_an_app_that_is_merged_brings_its_own_along_once() -> None:
    part, whole = App(runs="asyncio"), App()
    part.on_start(opens)
    part.on_stop(opens)
    whole.merge(part)
    whole.merge(part)
    whole.on_stop(opens)
    assert runs_of(whole) == ["asyncio", "asyncio", "trio"]


def test_what_cannot_be_called_so_is_refused_at_once() -> None:
    async def generates(_state: Context) -> AsyncGenerator[None]:
        yield

    def takes_nothing() -> None: ...

    async def takes_two(_state: Context, _more: int) -> None: ...

    wrong: list[tuple[Any, str]] = [
        (generates, r"generator; open things with on_start, close them with on_stop"),
        (takes_nothing, "is called with one argument"),
        (takes_two, "is called with one argument"),
        (7, "an on_start function"),
    ]
    for function, said in wrong:
        with pytest.raises(BadInput, match=said):
            App().on_start(function)
    with pytest.raises(BadInput, match="runs='thread'"):
        App(runs="thread").on_stop(opens)
    with pytest.raises(BadInput, match="it takes 'thread' or 'process'"):
        App().on_start(runs="asyncio")(closes)
