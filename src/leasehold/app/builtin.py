"""The handlers that every worker has: `echo` and `dummy`, so that a worker without an app can run jobs."""

from __future__ import annotations

from functools import cache
from typing import Any

import trio

from leasehold.app import App, FreeKind
from leasehold.jobs.handling.job import Job
from leasehold.jobs.kinds.kind import Kind
from leasehold.jobs.kinds.kind_options import CheckedKindOptions


async def echo(_job: Job, args: dict[str, Any]) -> dict[str, Any]:
    """Return the args."""
    return args


async def dummy(job: Job, seconds: float = 0.0, fail_attempts: int = 0) -> str:
    """Sleep for `seconds`; then fail if this is one of the first `fail_attempts` attempts."""
    await trio.sleep(seconds)
    if job.attempt <= fail_attempts:
        raise RuntimeError(f"told to fail {fail_attempts} attempts; this is attempt {job.attempt}")
    return f"dummy {job.id} done"


def builtin_app() -> App:
    """An app with `echo` and `dummy`."""
    app = App()
    app.add(FreeKind("echo", echo, None, CheckedKindOptions()))
    app.kind()(dummy)
    return app


def with_builtins(app: App | None) -> App:
    """The handlers of `app`, with `echo` and `dummy` unless it has these names or a default handler."""
    served = App(version=None if app is None else app.version)
    if app is not None:
        served.merge(app)
        served.take_default(app)
    if served.default is not None:
        return served
    for kind in builtin_app():
        if kind.name not in served:
            served.add(kind)
    return served


def find_kind(app: App, name: str) -> Kind[..., Any]:
    """The kind of this name in the app, else `echo` or `dummy`. Raises UnknownKind."""
    if name in app or app.default is not None or name not in _every_worker():
        return app.find(name)
    return _every_worker().find(name)


@cache
def _every_worker() -> App:
    return builtin_app()
