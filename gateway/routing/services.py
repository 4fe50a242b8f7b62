"""What the handlers use: client, limits, stream, audit log, sign-in, metrics, Kubernetes,
the doctor's checks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from leasehold.client import Client
from leasehold.gateway.access.audit_log import AuditLog
from leasehold.gateway.access.sign_in import SignIn
from leasehold.gateway.cluster.worker_set import WorkerSet
from leasehold.gateway.http.reading import RequestLimits
from leasehold.gateway.metrics.checkup import Checkup
from leasehold.gateway.metrics.database import DatabaseMetrics
from leasehold.gateway.metrics.requests import Requests
from leasehold.gateway.routing.coalescer import Coalescer
from leasehold.gateway.routing.hiding import Hiding
from leasehold.gateway.routing.sharing import Shared
from leasehold.gateway.routing.turns import Turns
from leasehold.gateway.stream.hub import Hub

Check = Callable[[], Awaitable[None]]


class GatewayServices(msgspec.Struct, frozen=True, eq=False):
    """One gateway's connections to the rest.

    `checks` are what `/readyz` asks: each raises if it is not well. `has_app`: the client checks args against an app's kinds, so
    it must get them decoded. `stopping` is set when the gateway begins to stop: long waits are then answered; `started` is set
    once every check has passed. `diffs`: who compares payloads takes turns.
    """

    client: Client
    coalescer: Coalescer
    checks: Mapping[str, Check]
    limits: RequestLimits
    has_app: bool = False
    stopping: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    started: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    stream: Hub | None = None
    audit_log: AuditLog | None = None
    sign_in: SignIn | None = None
    database_metrics: DatabaseMetrics | None = None
    worker_set: WorkerSet | None = None
    diffs: Turns = msgspec.field(default_factory=Turns)
    checkup: Checkup | None = None
    hiding: Hiding = msgspec.field(default_factory=lambda: Hiding(()))
    requests: Requests = msgspec.field(default_factory=Requests)
    shared: Shared = msgspec.field(default_factory=Shared)
