"""What handlers use: client, limits, stream, audit log, sign-in, metrics, Kubernetes, the doctor's checks; and how they
wait for a chain.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from leasehold.checks.verdicts import Check
from leasehold.client import Client
from leasehold.errors import WaitTimeout
from leasehold.gateway.access.audit_log import AuditLog
from leasehold.gateway.access.sessions import Sessions
from leasehold.gateway.cluster import WorkerSet
from leasehold.gateway.http.reading import RequestLimits
from leasehold.gateway.metrics import DatabaseMetrics, Requests
from leasehold.gateway.routing.coalescer import Coalescer
from leasehold.gateway.routing.hiding import Hiding
from leasehold.gateway.routing.sharing import Places, Shared
from leasehold.gateway.stream.hub import Hub
from leasehold.records.jobs import ChainRecord

T = TypeVar("T")
ReadyCheck = Callable[[], Awaitable[None]]


class GatewayServices(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One gateway's connections to the rest.

    `checks` are what `/readyz` asks: each raises if it is not well. `stopping` is set when the gateway begins to stop: long waits
    are then answered; `started` is set once every check has passed. `examine` makes the doctor's checks. `diffs`: who compares
    payloads takes turns. `shared` are answers of routes, until something changes, `asked` those of the database, whatever changes.
    """

    client: Client
    coalescer: Coalescer
    checks: Mapping[str, ReadyCheck]
    limits: RequestLimits
    stream: Hub
    audit_log: AuditLog
    sessions: Sessions
    database_metrics: DatabaseMetrics
    worker_set: WorkerSet
    examine: Callable[[], Awaitable[Sequence[Check]]]
    hiding: Hiding
    stopping: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    started: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    diffs: Places = msgspec.field(default_factory=Places)
    requests: Requests = msgspec.field(default_factory=Requests)
    shared: Shared = msgspec.field(default_factory=Shared)
    asked: Shared = msgspec.field(default_factory=Shared)


LONGEST_WAIT = 60
# RFC 7240 §2: preferences are separated by commas, the first of a name counts, what is not understood is ignored.
WAIT = re.compile(r'(?:^|,)\s*wait\s*=\s*"?(?P<seconds>\d{1,9})"?\s*(?=$|[,;])', re.IGNORECASE | re.ASCII)


def preferred_wait(prefer: str | None) -> int | None:
    """How many seconds a Prefer header asks to wait, at most a minute; None if it asks for no wait."""
    found = WAIT.search(prefer) if prefer else None
    return min(int(found["seconds"]), LONGEST_WAIT) if found else None


async def chain_within(services: GatewayServices, chain_id: int, seconds: float) -> ChainRecord:
    """The chain when it has ended, after `seconds`, or when the gateway stops. Raises UnknownJob."""
    chains = services.client.chains
    return await unless_stopping(services, chains.wait(chain_id, timeout=seconds), lambda: chains.get(chain_id))


async def unless_stopping(
    services: GatewayServices, wait: Coroutine[Any, Any, T], look: Callable[[], Awaitable[T]]
) -> T:
    """What `wait` ends with; where its time is up or the gateway stops first, what `look` finds."""
    waiting = asyncio.ensure_future(wait)
    stopping = asyncio.ensure_future(services.stopping.wait())
    try:
        await asyncio.wait({waiting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        return await waiting if waiting.done() else await look()
    except WaitTimeout:
        return await look()
    finally:
        waiting.cancel()
        stopping.cancel()
