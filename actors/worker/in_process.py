"""`leasehold.worker`: a worker inside somebody's own program."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Protocol

import msgspec

from leasehold.actors.identity import made_up_id
from leasehold.app import App
from leasehold.concurrency.flavours import running_flavour
from leasehold.database import Caller
from leasehold.errors import BadInput
from leasehold.payloads.options import PayloadOptions
from leasehold.settings import Settings, load_settings

Opening = Callable[[], AbstractAsyncContextManager[str]]


class Lender(Protocol):
    """A client that is open."""

    @property
    def __lends__(self) -> tuple[Caller, PayloadOptions]:
        """Its database, and where payloads lie."""
        ...


class InProcessWorker:
    """What `leasehold.worker` makes: for a block of `async with`, or from `start` to `stop`."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._held: AbstractAsyncContextManager[str] | None = None

    async def __aenter__(self) -> str:
        return await self._enter(self._opening if running_flavour() == "trio" else _apart(self._opening, cancels=True))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        held, self._held = self._held, None
        if held is None:
            raise BadInput("this worker has not been started, or was stopped already")
        return await held.__aexit__(kind, error, traceback)

    async def start(self) -> str:
        """Begin, and go on until `stop`, whichever task calls that; returns its id. Raises as the block does before it begins."""
        return await self._enter(
            _beside(self._opening) if running_flavour() == "trio" else _apart(self._opening, cancels=False)
        )

    async def stop(self) -> None:
        """End as at the end of the block. Raises ActorFailed where the worker could not go on before."""
        await self.__aexit__(None, None, None)

    async def _enter(self, opening: Opening) -> str:
        if self._held is not None:
            raise BadInput("this worker runs already; make another one")
        held = opening()
        name = await held.__aenter__()
        self._held = held
        return name


def worker(
    app: App,
    database: str | Lender | None = None,
    *,
    queues: Sequence[str] = (),
    slots: int | None = None,
    worker_id: str | None = None,
    drain_seconds: float = 30.0,
) -> InProcessWorker:
    """A worker in this process, as long as the block lasts; for tests and small services.

    Under trio it runs in your loop: a handler that blocks the loop blocks your program, too. Under asyncio it runs in a thread of
    its own, under trio, and so do all its handlers, also those of `App(runs="asyncio")`: they share no event loop with your
    program, so they must not use its clients, pools or locks.

    At the end of the block it claims nothing more and lets running jobs finish. After `drain_seconds` it cancels what still runs
    and hands it back, as it does at once where the block ends by an exception. A handler in a thread that does not end holds the
    end of the block up. It fires no schedules, drops no old jobs and obeys no signals: run `leasehold run scheduler reaper`
    for the former, and end the block at a signal.

    Where a framework has no block but calls a function at its start and one at its end, `await it.start()` begins it, and
    `await it.stop()` ends it as a block does. A worker that cannot go on then cancels nothing, and `stop` raises why.

    With an open client for a database, it shares the pool of that client: it takes at most all connections but one at the same
    time, for one short statement each. It keeps two of its own, which listen and renew leases, and one for each transaction that a
    handler has open. If the client is closed meanwhile, the worker goes on with connections of its own.

    Args:
        app: its handlers run, besides the built-in `echo` and `dummy`.
        database: an open client, whose payload store it uses, too; or a Postgres URL, empty: the PG… environment variables decide.
            None: all settings come from LEASEHOLD_… variables and leasehold.toml, as those of `leasehold run worker` do, and the
            arguments here win over them.
        queues: those it serves; none means all.
        slots: jobs that it runs at once; 3 if not given, 20 for an app with runs="asyncio".
        worker_id: its name in the fleet; made up if not given.
        drain_seconds: for running jobs at the end of the block.

    Returns:
        What the block gives its id, and so does `start`.

    Raises:
        BadInput: the app has no handlers, an argument is out of range, or the pool of the client has one connection only.
        ClientClosed: the client is closed already.
        DatabaseUnavailable, SchemaMismatch: before the block; run `leasehold migrate` first.
        ActorFailed: the worker cannot go on. The block is cancelled.

    Example:
        async with leasehold.open_client("postgresql://…", app=app) as client, leasehold.worker(app, client):
            await client.wait(await client.enqueue(greet.new(name="Ada")))
    """
    if not app.served_kinds and app.default is None:
        raise BadInput("the app has no handler; register kinds with @app.kind() before the worker starts")
    given = {"queues": tuple(queues), "slots": slots, "worker_id": worker_id, "drain_seconds": drain_seconds}
    loan = None
    if database is not None and not isinstance(database, str):
        # Not above: it loads trio, which programs that only enqueue do without.
        from leasehold.actors.worker.lent import borrow  # noqa: PLC0415

        loan = borrow(*database.__lends__)
        database, given["direct_database_url"] = loan.lender.dsn, loan.lender.direct_dsn
    settings = _settings(database, {name: value for name, value in given.items() if value not in (None, ())})
    if loan is not None:
        settings = msgspec.structs.replace(settings, statement_seconds=loan.lender.timeout)

    def opening() -> AbstractAsyncContextManager[str]:
        # Not above: as `lent`.
        from leasehold.actors.worker.alone import open_worker  # noqa: PLC0415

        return open_worker(app, settings, settings.worker_id or made_up_id(), loan)

    return InProcessWorker(opening)


def _apart(opening: Opening, *, cancels: bool) -> Opening:
    # Not above: it loads trio, as `opening` does.
    from leasehold.concurrency.trio_apart import open_apart  # noqa: PLC0415

    return lambda: open_apart(opening, "leasehold worker", cancels=cancels)


def _beside(opening: Opening) -> Opening:
    from leasehold.concurrency.trio_apart import open_beside  # noqa: PLC0415

    return lambda: open_beside(opening)


def _settings(database: str | None, given: dict[str, object]) -> Settings:
    if database is None:
        return load_settings(given, os.environ)
    try:
        return msgspec.convert({**given, "database_url": database}, Settings)
    except msgspec.ValidationError as error:
        raise BadInput(f"a worker cannot be made so: {error}") from error
