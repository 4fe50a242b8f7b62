"""What the handlers of the gateway work with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from leasehold.gateway.coalescer import Coalescer
from leasehold.gateway.reading import Limits
from leasehold.job import NewJob
from leasehold.records import EnqueuedJob, JobRecord, QueueCounts

Check = Callable[[], Awaitable[None]]


class JobsClient(Protocol):
    """The part of `leasehold.Client` that the gateway calls."""

    async def enqueue_many(self, jobs: Sequence[NewJob]) -> list[EnqueuedJob]: ...
    async def get(self, job_id: int) -> JobRecord: ...
    async def counts(self) -> list[QueueCounts]: ...


class Services(msgspec.Struct, frozen=True, eq=False):
    """One gateway's connections to the rest. `checks` are what `/readyz` asks: each raises if it is not well.
    `has_app`: the client checks args against an app's kinds, so it must get them decoded."""

    client: JobsClient
    coalescer: Coalescer
    checks: Mapping[str, Check]
    limits: Limits
    has_app: bool = False
