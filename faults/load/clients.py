"""Clients that work without pause and write down every call: when it began and ended, and what came of it."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Literal
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import trio

from faults.history.records import Call, Entry, Outcome
from faults.load.mix import BURST, GROUPED, LIMITED, MAX_OF_GROUP, MAX_RUNNING, PAUSED, RATE, RATED, Ask, Mix
from leasehold import NewJob
from leasehold.client import Client
from leasehold.database import Database
from leasehold.errors import DatabaseUnavailable, LeaseholdError

HTTP_TIMEOUT = 10.0
TRIES = 200
SCHEDULES: tuple[tuple[str, int, Literal["catch_up", "coalesce", "skip"]], ...] = (
    ("each second", 1, "catch_up"),
    ("each other", 2, "coalesce"),
    ("skips", 3, "skip"),
)


class RolledBack(Exception):
    """Raised to undo a transaction."""


class Pace:
    """How many jobs may be made: so many a second, and only while not too many wait."""

    def __init__(self, jobs_a_second: float, most_waiting: int) -> None:
        self._rate = jobs_a_second
        self._most = most_waiting
        self._began = time.monotonic()
        self.made = 0
        self.finished = 0

    def begin(self) -> None:
        """Now."""
        self._began = time.monotonic()

    async def wait(self) -> None:
        """Until there is room."""
        while self.made > (time.monotonic() - self._began) * self._rate or self.made - self.finished > self._most:
            await trio.sleep(0.01)


class Clients:
    """All clients of a run, over one database connection pool and one gateway. `calls` grows as they work."""

    def __init__(self, database: Database, gateway: str, mix: Mix, pace: Pace, batch: int) -> None:
        self.calls: list[Entry] = []
        self._client = Client(database)
        self._gateway = gateway
        self._mix = mix
        self.pace = pace
        self._batch = batch

    async def run(self) -> None:
        """Work until cancelled; a call that is under way is then of unknown outcome."""
        async with trio.open_nursery() as nursery:
            for number in range(3):
                nursery.start_soon(self._produce, f"producer {number}")
            for change in (self._cancel, self._retry, self._edit, self._complete):
                nursery.start_soon(self._repeat, change)
            nursery.start_soon(self._pause_and_resume)

    async def set_up(self) -> None:
        """Limits, and schedules, before anything else."""
        queues = self._client.queues
        await queues.set_limit(LIMITED, max_running=MAX_RUNNING)
        await queues.set_limit(GROUPED, "*", max_running=MAX_OF_GROUP)
        await queues.set_limit(RATED, rate=RATE, burst=BURST)
        for name, every, missed in SCHEDULES:
            await self._client.schedules.create(NewJob(kind="ticked"), name=name, every=every, missed=missed)

    async def heal(self) -> None:
        """Nothing stays paused, and no more ticks."""
        await self._insist("resume", PAUSED, lambda: self._client.queues.resume(PAUSED))
        for name, _, _ in SCHEDULES:
            await self._insist("disable", name, partial(self._client.schedules.disable, name))

    async def ask(self, ask: Ask, client: str = "machine") -> None:
        """One call that makes jobs."""
        if ask.how == "http_enqueue":
            await self._post(ask, client)
        elif ask.how == "idempotent":
            await self._until_known(ask, client)
        elif ask.how in ("transaction", "rolled_back"):
            await self._in_transaction(ask, client)
        else:
            async with self._call("enqueue_many", client, tags=ask.tags) as ids:
                ids.extend(await self._client.enqueue_many(ask.jobs))
                self._learn(ids)
        self.pace.made += len(ask.tags)

    async def _produce(self, client: str) -> None:
        while True:
            await self.pace.wait()
            await self.ask(self._mix.next(self._batch), client)

    def _learn(self, ids: Sequence[int]) -> None:
        self._mix.made.extend(ids)

    async def _post(self, ask: Ask, client: str) -> None:
        body = [{"kind": job.kind, "args": job.args, "metadata": job.metadata} for job in ask.jobs]
        async with self._call("http_enqueue", client, tags=ask.tags) as ids:
            ids.extend(await trio.to_thread.run_sync(post, self._gateway, body, abandon_on_cancel=True))
            self._learn(ids)

    async def _until_known(self, ask: Ask, client: str) -> None:
        """The same request with the same idempotency key, until its answer is known."""
        for _ in range(TRIES):
            async with self._call("enqueue", client, tags=ask.tags, subject=f"idempotent {ask.key}") as ids:
                ids.extend(await self._client.enqueue_many(ask.jobs))
            if ids and not self._mix.chance(0.3):
                return
            await trio.sleep(0.05)

    async def _in_transaction(self, ask: Ask, client: str) -> None:
        async with self._call(ask.how, client, tags=ask.tags) as ids:
            try:
                async with self._client.transaction() as transaction:
                    made = await self._client.enqueue_many(ask.jobs, connection=transaction)
                    undo_if(ask.how == "rolled_back")
                ids.extend(made)
            except RolledBack:
                pass

    async def _repeat(self, change: Callable[[int], Awaitable[None]]) -> None:
        while True:
            await trio.sleep(self._mix.seconds(0.3))
            job = self._mix.some_job()
            if job is not None:
                await change(job)

    async def _cancel(self, job: int) -> None:
        async with self._call("cancel", "canceller") as ids:
            await self._client.cancel(job)
            ids.append(job)

    async def _retry(self, job: int) -> None:
        async with self._call("retry", "retrier") as ids:
            await self._client.retry(job)
            ids.append(job)

    async def _edit(self, job: int) -> None:
        async with self._call("edit", "editor") as ids:
            await self._client.jobs.edit(job, priority=5)
            ids.append(job)

    async def _complete(self, job: int) -> None:
        if self._mix.chance(0.8):
            return
        async with self._call("complete_chain", "approver") as ids:
            await self._client.chains.complete(job)
            ids.append(job)

    async def _pause_and_resume(self) -> None:
        while True:
            await trio.sleep(self._mix.seconds(2.0))
            await self._insist("pause", PAUSED, lambda: self._client.queues.pause(PAUSED))
            await trio.sleep(self._mix.seconds(1.0))
            await self._insist("resume", PAUSED, lambda: self._client.queues.resume(PAUSED))

    async def _insist(self, operation: str, queue: str, call: Callable[[], Awaitable[object]]) -> None:
        """Until it is known to have happened."""
        for _ in range(TRIES):
            is_known = False
            async with self._call(operation, "operator", subject=queue):
                await call()
                is_known = True
            if is_known:
                return
            await trio.sleep(0.05)

    @asynccontextmanager
    async def _call(
        self, operation: str, client: str, *, tags: tuple[int, ...] = (), subject: str | None = None
    ) -> AsyncGenerator[list[int]]:
        """Write down what happens in the block, which fills the list with the ids of the answer."""
        ids: list[int] = []
        started = time.time()
        outcome: Outcome = "unknown"
        error: str | None = None
        try:
            yield ids
            outcome = "ok"
        except DatabaseUnavailable as trouble:
            error = str(trouble)
        except Refused as trouble:
            outcome, error = "fail", str(trouble)
        except LeaseholdError as trouble:
            outcome, error = "fail", f"{type(trouble).__name__}: {trouble}"[:300]
        except OSError as trouble:
            error = f"{type(trouble).__name__}: {trouble}"[:300]
        finally:
            self.calls.append(
                Call(operation, client, started, time.time(), outcome, tags, tuple(ids), subject, error)
            )  # fmt: skip


def undo_if(wanted: bool) -> None:
    """Leave the transaction, which is then rolled back."""
    if wanted:
        raise RolledBack


class Refused(Exception):
    """The gateway said that the request is wrong."""


def post(gateway: str, body: Sequence[object]) -> list[int]:
    """Enqueue over HTTP; the ids. Raises Refused for what is wrong with the request, OSError for everything else."""
    request = Request(
        f"{gateway}/api/jobs/batch", json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST"
    )
    try:
        with urlopen(request, timeout=HTTP_TIMEOUT) as answer:
            return [item["id"] for item in json.load(answer)["items"]]
    except HTTPError as error:
        if 400 <= error.code < 500:
            raise Refused(f"{error.code} {error.read()[:200]!r}") from None
        raise OSError(f"the gateway answered {error.code}") from None
    except ValueError as error:
        raise OSError(f"the answer was cut short: {error}") from None
