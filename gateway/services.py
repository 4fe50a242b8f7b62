"""What the handlers of the gateway work with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from leasehold.continuation import ContinueWith
from leasehold.gateway.coalescer import Coalescer
from leasehold.gateway.reading import Limits
from leasehold.job import NewJob
from leasehold.records import (
    BlockerRecord,
    ChainRecord,
    EnqueuedJob,
    Explanation,
    JobProgress,
    JobRecord,
    LogLine,
    QueueCounts,
)

Check = Callable[[], Awaitable[None]]


class ChainsClient(Protocol):
    """The part of `leasehold.Client` about chains."""

    async def chain(self, chain_id: int) -> ChainRecord: ...
    async def chains(
        self, *, state: str | None, kind: str | None, queue: str | None, before_id: int | None, page_size: int
    ) -> list[ChainRecord]: ...
    async def chain_jobs(self, chain_id: int, *, after_position: int, page_size: int) -> list[JobRecord]: ...
    async def blockers(self, job_id: int) -> list[BlockerRecord]: ...
    async def complete_chain(
        self, chain_id: int, output: Any, *, continue_with: ContinueWith[Any] | None
    ) -> list[int]: ...
    async def cancel_chain(self, chain_id: int, reason: str | None) -> str: ...
    async def delete_chain(self, chain_id: int, *, cascade: bool) -> list[int]: ...
    async def end_of(self, chain_id: int, *, timeout: float) -> ChainRecord: ...


class JobsClient(ChainsClient, Protocol):
    """The part of `leasehold.Client` that the gateway calls."""

    async def enqueue_many(self, jobs: Sequence[NewJob]) -> list[EnqueuedJob]: ...
    async def get(self, job_id: int) -> JobRecord: ...
    async def explain(self, job_id: int) -> list[Explanation]: ...
    async def progress(self, job_id: int) -> JobProgress | None: ...
    async def logs(self, job_id: int, *, attempt: int | None) -> list[LogLine]: ...
    async def counts(self) -> list[QueueCounts]: ...


class Services(msgspec.Struct, frozen=True, eq=False):
    """One gateway's connections to the rest. `checks` are what `/readyz` asks: each raises if it is not well.
    `has_app`: the client checks args against an app's kinds, so it must get them decoded. `stopping` is set when the
    gateway begins to stop: who waits for something long answers then."""

    client: JobsClient
    coalescer: Coalescer
    checks: Mapping[str, Check]
    limits: Limits
    has_app: bool = False
    stopping: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
