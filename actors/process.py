"""What the actors of one process share, and what runs beside them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import msgspec

from leasehold.actors.epochs import EpochLooker, EpochWatch
from leasehold.actors.supervise import Outage, nobody, supervise
from leasehold.app import App
from leasehold.database import Caller, Database, open_database
from leasehold.database.connections import STATEMENT_SECONDS
from leasehold.notify.listener import Listener
from leasehold.notify.switchboard import Switchboard
from leasehold.payloads.options import PayloadOptions, payload_options
from leasehold.settings import Settings


class Process(msgspec.Struct, frozen=True, eq=False):
    """The record that a worker and its parts are made from; other actors get what they need of it.

    Attributes:
        database: with a pool for all of them, and connections of their own.
        settings: of the process.
        app: its kinds and observers.
        switchboard: where notices arrive.
        outage: told when an actor cannot reach the database; tells others of each loss.
        epochs: of the database; it greets each new connection.
        payloads: where they lie.
        lent: asks in place of the pool; None: nobody lends anything.
    """

    database: Database
    settings: Settings
    app: App
    switchboard: Switchboard = msgspec.field(default_factory=Switchboard)
    outage: Outage = msgspec.field(default_factory=Outage)
    epochs: EpochWatch = msgspec.field(default_factory=EpochWatch)
    payloads: PayloadOptions = msgspec.field(default_factory=PayloadOptions)
    lent: Caller | None = None

    @property
    def caller(self) -> Caller:
        """Makes short calls."""
        return self.database if self.lent is None else self.lent

    def helpers(self) -> list[Callable[[], Awaitable[None]]]:
        """What runs beside the actors until it is cancelled: the listener, and who looks for outages and epochs."""
        beside = [EpochLooker(self.epochs, self.caller)]
        listener = [Listener(self.database, self.switchboard)] if self.settings.notify else []
        actors = [partial(supervise, actor, nobody, self.outage) for actor in (*beside, *listener)]
        return [partial(self.outage.watch, self.caller), *actors]


@asynccontextmanager
async def open_process(settings: Settings, app: App, label: str) -> AsyncGenerator[Process]:
    """The shared record while the block lasts. `label`: the name of its connections in Postgres."""
    epochs, seconds = EpochWatch(), settings.statement_seconds
    opening = open_database(
        settings.database_url or "",
        application_name=label,
        timeout=seconds
        and min(seconds, STATEMENT_SECONDS),  # ours are short: a longer wait is for a connection that is lost
        direct_dsn=settings.direct_database_url,
        greeter=epochs,
    )
    async with opening as database:
        yield Process(database, settings, app, epochs=epochs, payloads=payload_options(settings))
