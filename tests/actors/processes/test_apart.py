from __future__ import annotations

from collections.abc import AsyncGenerator
from functools import partial
from typing import Any

import msgspec
import pytest

from leasehold.actors.attempts.outcome import MOST_OUTPUT_BYTES, EncodedOutput
from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.processes.apart import invoke_apart
from leasehold.actors.processes.pool import ProcessPool
from leasehold.errors import BadInput, HandlerFailed, report_of
from leasehold.jobs.endings import ContinueWith, WaitFor
from leasehold.jobs.new_job import NewJob
from tests.support.held import held_job
from tests.support.process_app import app


async def call_apart(pool: ProcessPool | None, name: str, *, decodes: bool = False, **args: Any) -> Any:
    held = held_job(kind=app.find(name), args=msgspec.json.encode(args).decode())
    return await invoke_apart(pool, held, WorkerIdentity("w1"), MOST_OUTPUT_BYTES, decodes=decodes)


@pytest.fixture
async def pool() -> AsyncGenerator[ProcessPool]:
    async with ProcessPool(1) as pool:
        yield pool


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
    told = report_of(failed.value)
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
