"""Calls what the app registered with `on_start` and `on_stop`, around everything that a worker does."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

import trio

from leasehold.actors.identity import WorkerMode
from leasehold.app import App
from leasehold.app.hooks import Hook
from leasehold.database.border import run_asyncio
from leasehold.errors import ActorFailed, DatabaseUnavailable
from leasehold.jobs.job_host import Context

log = logging.getLogger(__name__)

STOP_SECONDS = 10.0


@asynccontextmanager
async def started(app: App, state: Context, mode: WorkerMode | None = None) -> AsyncGenerator[None]:
    """Everything is started as long as the block lasts. A worker that is drained meanwhile waits for no start.

    Raises DatabaseUnavailable where a function that starts something does, and ActorFailed for all else that it raises.
    """
    try:
        with trio.CancelScope() as starting:
            if mode is not None:
                mode.subscribe(lambda: mode.is_draining and starting.cancel())
            for hook in app.starts:
                await _start(hook, state)
        yield
    finally:
        with trio.move_on_after(STOP_SECONDS, shield=True) as stopping:
            for hook in reversed(app.stops):
                await _stop(hook, state)
        if stopping.cancelled_caught:
            log.error("what the app does when it stops was given up after %g s", STOP_SECONDS)


async def _start(hook: Hook, state: Context) -> None:
    try:
        await _call(hook, state)
    except DatabaseUnavailable:
        raise
    except Exception as error:
        log.exception("on_start function %s failed", hook.name)
        raise ActorFailed(f"on_start function {hook.name} failed: {error!r}") from error


async def _stop(hook: Hook, state: Context) -> None:
    try:
        await _call(hook, state)
    except Exception:
        log.exception("on_stop function %s failed", hook.name)


async def _call(hook: Hook, state: Context) -> None:
    match hook.runs:
        case "asyncio":
            await run_asyncio(partial(hook.function, state))
        case "trio":
            await hook.function(state)
        case _:
            await trio.to_thread.run_sync(hook.function, state, abandon_on_cancel=True)
