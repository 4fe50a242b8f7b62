"""Single enqueues that overlap on one client share a statement."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import trio

from leasehold.client import open_client
from leasehold.client.convoy import PATIENCE_SECONDS, Convoy
from leasehold.database import Caller, Row, open_asyncio_database
from leasehold.errors import BadInput, DatabaseUnavailable
from leasehold.jobs.new_job import NewJob
from tests.support.flavours import in_flavour


class Gate(Caller):
    """A database that lets each statement through when it is told to, and remembers how many jobs each had."""

    def __init__(self, inner: Caller) -> None:
        self.inner = inner
        self._tickets = asyncio.Semaphore(0)
        self.sent: list[list[str]] = []
        self.error: Exception | None = None

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        self.sent.append([job["kind"] for job in json.loads(str(args[0]))])
        await self._tickets.acquire()
        if self.error is not None:
            raise self.error
        return await self.inner.fetch(sql, *args, timeout=timeout)

    def open(self, statements: int = 1_000) -> None:
        for _ in range(statements):
            self._tickets.release()


def document(kind: str) -> str:
    return json.dumps({"kind": kind})


def gated(test: Callable[[Gate, Convoy], Coroutine[Any, Any, None]]) -> Callable[[str], None]:
    """A test of a convoy whose statements pass a gate."""

    def run(database_url: str) -> None:
        async def main() -> None:
            async with open_asyncio_database(database_url) as inner:
                gate = Gate(inner)
                await test(gate, Convoy(gate))

        in_flavour("asyncio", main)

    return run


@pytest.fixture(autouse=True)
def seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of the convoy stands still, but for tests that move it."""
    monkeypatch.setitem(NOW, "seconds", 0.0)
    monkeypatch.setattr("leasehold.client.convoy.monotonic", lambda: NOW["seconds"])


NOW = {"seconds": 0.0}


async def written(gate: Gate) -> dict[int, str]:
    """The kinds of all jobs by id, in the order of their ids."""
    rows = await gate.inner.fetch("select id, kind from leasehold.jobs order by id")
    return {row["id"]: row["kind"] for row in rows}


async def several(convoy: Convoy, *kinds: str) -> list[asyncio.Task[Row]]:
    """Enqueue these, in this order, without waiting for answers."""
    tasks = [asyncio.create_task(convoy.enqueue(document(kind), False)) for kind in kinds]
    await asyncio.sleep(0)  # each runs until it waits
    return tasks


@gated
async def test_those_that_come_while_one_is_in_flight_share_the_next_statement_in_their_order(
    gate: Gate, convoy: Convoy
) -> None:
    tasks = await several(convoy, "a", "b", "c", "d")
    assert gate.sent == [["a"]]
    gate.open()
    rows = [await task for task in tasks]
    assert gate.sent == [["a"], ["b", "c", "d"]]
    assert [row["job_id"] for row in rows] == sorted(row["job_id"] for row in rows)
    assert await written(gate) == dict(zip((row["job_id"] for row in rows), "abcd", strict=True))


@gated
async def test_a_refused_job_gets_its_own_error_and_the_others_are_written(gate: Gate, convoy: Convoy) -> None:
    tasks = await several(convoy, "first", "b", "", "c", "d", "")
    gate.open()
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    refused = [end for end in ends if isinstance(end, BaseException)]
    assert [isinstance(end, BadInput) for end in ends] == [False, False, True, False, False, True]
    assert all("kind must have 1 to 200 bytes" in str(error) for error in refused)
    assert refused[0] is not refused[1]
    assert [*(await written(gate)).values()] == ["first", "b", "c", "d"]


@gated
async def test_who_gives_up_harms_nobody(gate: Gate, convoy: Convoy) -> None:
    lead, waits, stays, last = await several(convoy, "lead", "waits", "stays", "last")
    lead.cancel()
    waits.cancel()
    await asyncio.wait([lead, waits])
    await asyncio.sleep(0)  # the next statement is sent
    assert gate.sent == [["lead"], ["stays", "last"]]
    stays.cancel()
    await asyncio.wait([stays])
    gate.open()
    await last
    assert [lead.cancelled(), waits.cancelled(), stays.cancelled()] == [True, True, True]
    assert [*(await written(gate)).values()] == ["stays", "last"]


@gated
async def test_an_outage_is_told_to_each_and_the_next_job_goes_alone_again(gate: Gate, convoy: Convoy) -> None:
    gate.error = DatabaseUnavailable("gone")
    tasks = await several(convoy, "a", "b", "c")
    gate.open()
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(end, DatabaseUnavailable) for end in ends)
    await convoy.close()
    gate.error = None
    await convoy.enqueue(document("d"), False)
    assert gate.sent == [["a"], ["b", "c"], ["d"]]


@gated
async def test_nobody_waits_long_behind_a_statement_that_gets_no_answer(gate: Gate, convoy: Convoy) -> None:
    [stuck] = await several(convoy, "stuck")
    NOW["seconds"] += PATIENCE_SECONDS + 0.1
    [late] = await several(convoy, "late")
    assert gate.sent == [["stuck"], ["late"]]
    gate.open()
    await asyncio.gather(stuck, late)


@gated
async def test_the_next_job_does_not_overtake_those_that_wait_behind_a_slow_one(gate: Gate, convoy: Convoy) -> None:
    async def one_after_another() -> None:
        for kind in ("slow", "next"):
            await convoy.enqueue(document(kind), False)

    leader = asyncio.create_task(one_after_another())
    await asyncio.sleep(0)
    others = await several(convoy, "b", "c")
    NOW["seconds"] += PATIENCE_SECONDS + 0.1
    gate.open()
    await asyncio.gather(leader, *others)
    assert gate.sent == [["slow"], ["b", "c", "next"]]


@gated
async def test_who_closes_the_client_lets_those_that_wait_arrive(gate: Gate, convoy: Convoy) -> None:
    tasks = await several(convoy, "a", "b", "c")
    gate.open()
    await tasks[0]
    await convoy.close()
    assert all(task.done() for task in tasks)


@pytest.mark.parametrize("flavour", ["trio", "asyncio"])
def test_a_crowd_on_one_client_gets_each_its_own_answer(database_url: str, flavour: str) -> None:
    async def main() -> None:
        async with open_client(database_url) as client:
            if flavour == "trio":
                async with trio.open_nursery() as nursery:
                    for number in range(60):
                        nursery.start_soon(one, client, number)
            else:
                await asyncio.gather(*(one(client, number) for number in range(60)))
            assert {job.id: job.kind for job in await client.jobs.list(page_size=100)} == answers

    async def one(client: Any, number: int) -> None:
        if number % 10 == 7:
            with pytest.raises(BadInput):
                await client.enqueue(NewJob(kind="x" * 201))
        else:
            answers[await client.enqueue(f"kind {number}")] = f"kind {number}"

    answers: dict[int, str] = {}
    in_flavour(flavour, main)
    assert len(answers) == 54
