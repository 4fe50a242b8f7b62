"""`leasehold.worker`: a worker inside somebody's own program."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import msgspec

from leasehold.actors.identity import made_up_id
from leasehold.app import App
from leasehold.concurrency.flavours import running_flavour
from leasehold.errors import BadInput
from leasehold.settings import Settings, load_settings


@asynccontextmanager
async def worker(
    app: App,
    database: str | None = None,
    *,
    queues: Sequence[str] = (),
    slots: int | None = None,
    worker_id: str | None = None,
    drain_seconds: float = 30.0,
) -> AsyncGenerator[str]:
    """A worker in this process, as long as the block lasts; for tests and small services.

    Under trio it runs in your loop: a handler that blocks the loop blocks your program, too. Under asyncio it runs in a thread of
    its own, under trio, and so do all its handlers, also those of `App(runs="asyncio")`: they share no event loop with your
    program, so they must not use its clients, pools or locks.

    At the end of the block it claims nothing more and lets running jobs finish. After `drain_seconds` it cancels what still runs
    and hands it back, as it does at once where the block ends by an exception. A handler in a thread that does not end holds the
    end of the block up. It fires no schedules, drops no old jobs and obeys no signals: run `leasehold run scheduler reaper`
    for the former, and end the block at a signal.

    Args:
        app: its handlers run, besides the built-in `echo` and `dummy`.
        database: a Postgres URL; empty: the PG… environment variables decide. None: all settings come from LEASEHOLD_… variables
            and leasehold.toml, as those of `leasehold run worker` do, and the arguments here win over them.
        queues: those it serves; none means all.
        slots: jobs that it runs at once; 3 if not given, 20 for an app with runs="asyncio".
        worker_id: its name in the fleet; made up if not given.
        drain_seconds: for running jobs at the end of the block.

    Yields:
        Its id.

    Raises:
        BadInput: the app has no handlers, or an argument is out of range.
        DatabaseUnavailable, SchemaMismatch: before the block; run `leasehold migrate` first.
        ActorFailed: the worker cannot go on. The block is cancelled.

    Example:
        async with leasehold.worker(app, "postgresql://…"), leasehold.open_client("postgresql://…", app=app) as client:
            await client.wait(await client.enqueue(greet.new(name="Ada")))
    """
    if not app.served_kinds and app.default is None:
        raise BadInput("the app has no handler; register kinds with @app.kind() before the worker starts")
    given = {"queues": tuple(queues), "slots": slots, "worker_id": worker_id, "drain_seconds": drain_seconds}
    settings = _settings(database, {name: value for name, value in given.items() if value not in (None, ())})

    def opening() -> AbstractAsyncContextManager[str]:
        # Not above: it loads trio, which programs that only enqueue do without.
        from leasehold.actors.worker.alone import open_worker  # noqa: PLC0415

        return open_worker(app, settings, settings.worker_id or made_up_id())

    async with opening() if running_flavour() == "trio" else _apart(opening) as name:
        yield name


def _apart(opening: Callable[[], AbstractAsyncContextManager[str]]) -> AbstractAsyncContextManager[str]:
    # Not above: it loads trio, as `opening` does.
    from leasehold.concurrency.trio_apart import open_apart  # noqa: PLC0415

    return open_apart(opening, "leasehold worker")


def _settings(database: str | None, given: dict[str, object]) -> Settings:
    if database is None:
        return load_settings(given, os.environ)
    try:
        return msgspec.convert({**given, "database_url": database}, Settings)
    except msgspec.ValidationError as error:
        raise BadInput(f"a worker cannot be made so: {error}") from error
