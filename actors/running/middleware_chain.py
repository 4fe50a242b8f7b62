"""Calls a handler through its middlewares."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import trio

from leasehold.actors.running.invocation import Apart, invoke
from leasehold.app import App
from leasehold.jobs.job import Job
from leasehold.jobs.job_host import Context
from leasehold.jobs.kind import Kind
from leasehold.jobs.middleware import Attempt, CallNext, Middleware


class MiddlewareChains(dict[Kind[..., Any], tuple[Middleware, ...]]):
    """The middlewares of each kind, outermost first; asked of the app once, when the kind's first job comes."""

    def __init__(self, app: App) -> None:
        super().__init__()
        self._app = app

    def __missing__(self, kind: Kind[..., Any]) -> tuple[Middleware, ...]:
        found = self[kind] = self._app.middlewares_of(kind)
        return found


class _NoLayers(dict[Kind[..., Any], tuple[Middleware, ...]]):
    def __missing__(self, kind: Kind[..., Any]) -> tuple[Middleware, ...]:
        return ()


NO_MIDDLEWARES = _NoLayers()


async def invoke_within(
    layers: tuple[Middleware, ...],
    job: Job,
    kind: Kind[..., Any],
    named: dict[str, Any],
    threads: trio.CapacityLimiter,
    apart: Apart | None = None,
) -> Any:
    """Call the handler through `layers`, and return what the outermost returns. `job` gets a context of its own."""
    context = Context()
    job = msgspec.structs.replace(job, context=context)
    attempt = Attempt(job, kind, named, context)
    call: CallNext = partial(invoke, kind, (job,) if kind.takes_job else (), named, threads, apart)
    for layer in reversed(layers):
        call = partial(layer, attempt, call)
    return await call()
