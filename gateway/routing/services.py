"""What the handlers use: client, limits, stream, audit log, metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from leasehold.client import Client
from leasehold.gateway.access.audit_log import AuditLog
from leasehold.gateway.http.reading import RequestLimits
from leasehold.gateway.metrics.database import DatabaseMetrics
from leasehold.gateway.metrics.requests import Requests
from leasehold.gateway.routing.coalescer import Coalescer
from leasehold.gateway.stream.hub import Hub

Check = Callable[[], Awaitable[None]]


class GatewayServices(msgspec.Struct, frozen=True, eq=False):
    """One gateway's connections to the rest. `checks` are what `/readyz` asks: each raises if it is not well. `has_app`:
    the client checks args against an app's kinds, so it must get them decoded. `stopping` is set when the gateway begins to
    stop: long waits are then answered; `started` is set once every check has passed."""

    client: Client
    coalescer: Coalescer
    checks: Mapping[str, Check]
    limits: RequestLimits
    has_app: bool = False
    stopping: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    started: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    stream: Hub | None = None
    audit_log: AuditLog | None = None
    database_metrics: DatabaseMetrics | None = None
    requests: Requests = msgspec.field(default_factory=Requests)
