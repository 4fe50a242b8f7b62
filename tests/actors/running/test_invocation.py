from __future__ import annotations

from collections.abc import AsyncGenerator
from functools import partial
from threading import current_thread, main_thread
from typing import Any, cast

import msgspec
import pytest
import trio

from leasehold.actors.attempts.outcome import EncodedOutput
from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.processes.pool import ProcessPool
from leasehold.actors.running.invocation import Apart, invoke
from leasehold.errors import BadInput, HandlerFailed, told_of
from leasehold.jobs.endings import ContinueWith, WaitFor
from leasehold.jobs.kind import CheckedKindOptions, Kind
from leasehold.jobs.new_job import NewJob
from tests.support.held import held_job
from tests.support.process_app import app


async def call(kind: Kind[..., Any], *args: Any, apart: Apart | None = None, **named: Any) -> Any:
    return await invoke(kind, args, named, trio.CapacityLimiter(1), apart)


async def call_apart(pool: ProcessPool | None, name: str, *, decodes: bool = False, **args: Any) -> Any:
    kind = app.find(name)
    held = held_job(kind=kind, args=msgspec.json.encode(args).decode())
    return await call(kind, apart=Apart(pool, held, WorkerIdentity("w1"), decodes))


@pytest.fixture
async def pool() -> AsyncGenerator[ProcessPool]:
    async with ProcessPool(1) as pool:
        yield pool


async def test_an_async_handler_runs_under_trio_and_a_plain_one_in_a_thread() -> None:
    async def under_trio(word: str) -> str:
        await trio.lowlevel.checkpoint()
        return word * 2

    def in_a_thread(word: str) -> bool:
        return word == "a" and current_thread() is not main_thread()

    assert await call(Kind("a", under_trio, None, CheckedKindOptions()), word="a") == "aa"
    assert await call(Kind("b", in_a_thread, None, CheckedKindOptions()), "a") is True


async def test_a_process_answers_with_json_that_was_checked_there_or_with_a_value_for_middlewares(
    pool: ProcessPool,
) -> None:
    resize = partial(call_apart, pool, "resize", picture={"name": "a", "wait": "PT1S"})
    assert await resize() == EncodedOutput('{"name":"a","wait":"PT2S"}')
    assert await resize(decodes=True) == {"name": "a", "wait": "PT2S"}
    assert await call_apart(pool, "answer", how="none", decodes=True) is None


async def test_what_a_process_raised_is_raised_here_and_told_as_it_was_there(pool: ProcessPool) -> None:
    with pytest.raises(HandlerFailed, match="ValueError: no picture") as failed:
        await call_apart(pool, "fail", how="plain")
    told = told_of(failed.value)
    assert told is not None
    assert told["type"] == "ValueError"


async def test_a_process_may_continue_a_chain_or_wait_for_others(pool: ProcessPool) -> None:
    end: ContinueWith[Any] = await call_apart(pool, "go_on", how="continue")
    assert isinstance(end.next.args, msgspec.Raw)
    assert (end.next.kind, bytes(end.next.args)) == ("resize", b'{"picture":{"name":"a","wait":"PT1S"}}')
    assert list(end.blockers) == [11]
    with pytest.raises(WaitFor) as waits:
        await call_apart(pool, "go_on", how="wait")
    assert waits.value.delay == 2
    assert [each.kind if isinstance(each, NewJob) else each for each in waits.value.blockers] == [11, "pid"]


async def test_a_process_has_no_database_behind_its_job(pool: ProcessPool) -> None:
    with pytest.raises(HandlerFailed, match="BadInput: job 1 has no worker at hand for start: it runs in a process"):
        await call_apart(pool, "go_on", how="start")
    with pytest.raises(HandlerFailed, match="BadInput: a handler in a process of its own does not share the state"):
        await call_apart(pool, "go_on", how="state")


async def test_a_worker_that_was_made_without_processes_says_so() -> None:
    with pytest.raises(BadInput, match="kind pid runs in a process, and this worker has none"):
        await call_apart(None, "pid")


async def test_a_kind_that_no_flavour_runs_fails_instead_of_completing_unrun() -> None:
    async def handler() -> None: ...

    kind: Kind[..., Any] = Kind("a", handler, None, CheckedKindOptions())
    kind.runs = cast("Any", "asynco")
    with pytest.raises(BadInput, match="kind a: there is no way to run it as 'asynco'"):
        await call(kind)
