"""The handlers that every worker has: `echo` and `dummy`, so that a worker without an app can run jobs."""

from __future__ import annotations

from functools import cache
from typing import Any

from leasehold.app import App, FreeKind
from leasehold.jobs.job import Job
from leasehold.jobs.kind import CheckedKindOptions, Kind


async def echo(_job: Job, args: dict[str, Any]) -> dict[str, Any]:
    """Return the args."""
    return args


async def dummy(job: Job, seconds: float = 0.0, fail_attempts: int = 0) -> str:
    """Sleep for `seconds`; then fail if this is one of the first `fail_attempts` attempts."""
    import trio  # noqa: PLC0415  a client knows these kinds, too, and may need none

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
    """The handlers of `app`, with `echo` and `dummy` unless it has these names itself. A default handler gets the others."""
    served = App() if app is None else App(runs=app.runs, version=app.version)
    if app is not None:
        served.merge(app)
        served.take_default(app)
    for kind in builtin_app():
        if kind.name not in served:
            served.add(kind)
    return served


def find_kind(app: App, name: str) -> Kind[..., Any]:
    """The kind of this name in the app, else `echo` or `dummy`. Raises UnknownKind."""
    if name in app or name not in _every_worker():
        return app.find(name)
    return _every_worker().find(name)


def own_kinds(app: App) -> list[Kind[..., Any]]:
    """The kinds of the app without those that every worker has."""
    return [kind for kind in app if kind.function not in (echo, dummy)]


def knows(app: App, name: str) -> bool:
    """Whether somebody who has this app knows what a kind of this name wants."""
    return name in app or name in _every_worker()


@cache
def _every_worker() -> App:
    return builtin_app()
