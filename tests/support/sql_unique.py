"""Short ways to enqueue unique jobs, and to have many clients do it at the same moment."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import trio

from leasehold.database import Caller, Database, ReservedConnection
from tests.support.sql_worker import Json, SqlWorker

Answer = tuple[int, str]


async def enqueue_unique(caller: Caller, *jobs: object) -> list[Answer]:
    """The id and the outcome of each; is_new must agree with the outcome."""
    rows = await caller.call("enqueue_jobs", json.dumps(jobs))
    assert all(row["is_new"] == (row["outcome"] == "created") for row in rows)
    return [(row["job_id"], row["outcome"]) for row in rows]


async def enqueue_one(caller: Caller, kind: str = "a", *, unique: object = None, **fields: object) -> Answer:
    """One job; unique by kind and args unless said otherwise."""
    (answer,) = await enqueue_unique(caller, {"kind": kind, "unique": {} if unique is None else unique, **fields})
    return answer


async def go_on(worker: SqlWorker, continuation: Json) -> list[int]:
    """Claim one job and complete it with a continuation; the ids of the new jobs."""
    ((reason, new_ids),) = (await worker.continue_with(await worker.claim(1), [continuation])).values()
    assert reason is None
    assert new_ids is not None
    return new_ids


async def at_once(
    database: Database, clients: int, work: Callable[[int, ReservedConnection], Awaitable[object]]
) -> None:
    """Have so many clients, each with a connection of its own, begin their work at the same moment."""
    ready: list[int] = []
    everybody_is_here = trio.Event()

    async def client(number: int, reserved: ReservedConnection) -> None:
        ready.append(number)
        if len(ready) == clients:
            everybody_is_here.set()
        await everybody_is_here.wait()
        await work(number, reserved)

    async with AsyncExitStack() as stack:
        connections = [
            await stack.enter_async_context(database.reserve(f"client {number}")) for number in range(clients)
        ]
        async with trio.open_nursery() as nursery:
            for number, reserved in enumerate(connections):
                nursery.start_soon(client, number, reserved)
