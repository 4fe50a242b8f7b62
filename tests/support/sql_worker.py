"""A worker as the SQL functions see one: an incarnation, and the calls that carry it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from leasehold.database import Caller, Database, ReservedConnection, Row
from leasehold.errors import LockTimeout, RowLocked
from tests.support.sql_jobs import enqueue, enqueue_many
from tests.support.sql_waits import frozen

Refusals = dict[int, str]
Json = Mapping[str, object]

BOOM: Json = {"type": "ValueError", "message": "boom", "traceback": ""}


class SqlWorker:
    """Claims and settles over any connection. `jobs` are rows of claim_jobs; refusals come back as {job_id: reason}."""

    def __init__(self, caller: Caller, name: str = "w1", incarnation: UUID | None = None) -> None:
        self.caller = caller
        self.name = name
        self.incarnation = incarnation or uuid4()

    def over(self, caller: Caller) -> SqlWorker:
        """The same worker over another connection."""
        return SqlWorker(caller, self.name, self.incarnation)

    async def register(
        self,
        *,
        queues: Sequence[str] = (),
        kinds: Sequence[str] = (),
        slots: int = 3,
        listening: bool = True,
        heartbeat_seconds: float | None = None,
        app_version: str | None = None,
    ) -> None:
        await self.caller.call(
            "register_worker", self.incarnation, self.name, "host", 1, "0", list(queues), list(kinds), slots, listening,
            heartbeat_seconds=heartbeat_seconds, app_version=app_version,
        )  # fmt: skip

    async def beat(self) -> None:
        """Say that it lives."""
        await self.caller.call("heartbeat_worker", self.incarnation, 0, "ready", True)

    async def claim(
        self,
        batch: int = 10,
        *,
        queues: Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        lease: float = 60.0,
        kind_leases: Json | None = None,
    ) -> list[Row]:
        return await self.caller.call(
            "claim_jobs",
            self.incarnation,
            self.name,
            queues,
            kinds,
            batch,
            timedelta(seconds=lease),
            None if kind_leases is None else json.dumps(kind_leases),
        )

    async def given(self, kind: str = "echo", **fields: object) -> list[Row]:
        """Enqueue a job, as `enqueue` does, and claim."""
        await enqueue(self.caller, kind, **fields)
        return await self.claim()

    async def given_all(self, jobs: Sequence[object], batch: int = 10, **options: Any) -> list[Row]:
        """Enqueue jobs, as `enqueue_many` does, and claim."""
        await enqueue_many(self.caller, jobs)
        return await self.claim(batch, **options)

    async def claim_one(self) -> Row:
        (job,) = await self.claim(1)
        return job

    async def start(self, jobs: Sequence[Row]) -> Refusals:
        return refusals(await self.caller.call("start_jobs", self.incarnation, *identities(jobs)))

    async def complete(
        self,
        jobs: Sequence[Row],
        outputs: Sequence[object] | None = None,
        ran_for: Sequence[float | None] | None = None,
    ) -> Refusals:
        encoded = [json.dumps(output) for output in outputs] if outputs is not None else [None] * len(jobs)
        seconds = list(ran_for) if ran_for is not None else [None] * len(jobs)
        rows = await self.caller.call("complete_jobs", self.incarnation, *identities(jobs), encoded, seconds)
        return refusals(rows)

    async def settle(self, jobs: Sequence[Row]) -> Refusals:
        """Complete as a settler does: what another session holds, for a moment or half a second, is sent again."""
        refused: Refusals = {}
        while jobs:
            with suppress(LockTimeout):
                answer = await self.complete(jobs)
                refused |= {job_id: reason for job_id, reason in answer.items() if reason != "busy"}
                jobs = [job for job in jobs if answer.get(job["job_id"]) == "busy"]
        return refused

    async def continue_with(
        self,
        jobs: Sequence[Row],
        continuations: Sequence[Json | None],
        outputs: Sequence[object] | None = None,
        ran_for: Sequence[float | None] | None = None,
    ) -> dict[int, tuple[str | None, list[int] | None]]:
        """For each job the reason of a refusal, and the ids of its new jobs."""
        documents = [None if each is None else json.dumps(each) for each in continuations]
        encoded = None if outputs is None else [json.dumps(output) for output in outputs]
        rows = await self.caller.call(
            "continue_jobs", self.incarnation, *identities(jobs), documents, encoded, ran_for, timeout=None
        )
        return {row["job_id"]: (row["reason"], row["new_ids"]) for row in rows}

    async def block(self, jobs: Sequence[Row], waits: Sequence[Json]) -> Refusals:
        documents = [json.dumps(wait) for wait in waits]
        return refusals(await self.caller.call("block_jobs", self.incarnation, *identities(jobs), documents))

    async def fail(self, jobs: Sequence[Row], error: Json = BOOM, **arrays: Sequence[object]) -> dict[int, Row]:
        """`arrays`: ran_for, discard, retry_in, initial, multiplier, cap, step, each as long as jobs."""
        errors = [json.dumps(error)] * len(jobs)
        rows = await self.caller.call("fail_jobs", self.incarnation, *identities(jobs), errors, timeout=None, **arrays)
        return {row["job_id"]: row for row in rows}

    async def renew(
        self, jobs: Sequence[Row], *, lease: float = 60.0, ran_for: Sequence[float | None] | None = None
    ) -> Refusals:
        seconds = list(ran_for) if ran_for is not None else [0.0] * len(jobs)
        leases = [lease] * len(jobs)
        return refusals(await self.caller.call("renew_leases", self.incarnation, *identities(jobs), leases, seconds))

    async def release(self, jobs: Sequence[Row]) -> Refusals:
        return refusals(await self.caller.call("release_jobs", self.incarnation, *identities(jobs)))

    async def reschedule(
        self,
        jobs: Sequence[Row],
        delays: Sequence[float | None],
        reasons: Sequence[str | None] | None = None,
        run_ats: Sequence[datetime | None] | None = None,
    ) -> Refusals:
        ids, attempts = identities(jobs)
        rows = await self.caller.call(
            "reschedule_jobs", self.incarnation, ids, attempts, list(delays), reasons, run_ats=run_ats
        )
        return refusals(rows)

    async def held(self) -> set[tuple[int, int]]:
        return {(row["job_id"], row["attempt"]) for row in await self.caller.call("held_jobs", self.incarnation)}


async def insist(write: Callable[[], Awaitable[object]], met: list[object] | None = None) -> object:
    """What a settler does: send the same again while another session holds what it needs; `met` gets a line for each time.

    Calls give up after half a second, or two, which a busy machine may need to let go of what they wait for.
    """
    while True:
        try:
            answer = await write()
        except (LockTimeout, RowLocked) as error:
            if met is not None:
                met.append(str(error))
        else:
            if "busy" not in str(answer):
                return answer
            if met is not None:
                met.append("busy")


def identities(jobs: Sequence[Row]) -> tuple[list[int], list[int]]:
    """The ids and the attempts."""
    return [job["job_id"] for job in jobs], [job["attempt"] for job in jobs]


def ids(jobs: Sequence[Row]) -> list[int]:
    """The ids alone, in the order of the rows."""
    return [job["job_id"] for job in jobs]


def refusals(rows: Sequence[Row]) -> Refusals:
    return {row["job_id"]: row["reason"] for row in rows}


@asynccontextmanager
async def frozen_worker(database: Database, at: str) -> AsyncGenerator[tuple[ReservedConnection, SqlWorker]]:
    """A connection whose clock stands still, and a worker on it."""
    async with frozen(database, at) as connection:
        yield connection, SqlWorker(connection)
