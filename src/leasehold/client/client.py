"""The client: the calls that everybody uses, and a noun for each group of the others."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import cached_property
from typing import Any, TypeVar, overload

from leasehold import asks, validation
from leasehold.app import App
from leasehold.client.convoy import Convoy
from leasehold.client.core import Core
from leasehold.client.enqueues import Enqueues
from leasehold.client.nouns.capacity import Capacity
from leasehold.client.nouns.chains import Chains
from leasehold.client.nouns.changes import Changes
from leasehold.client.nouns.commands import Commands
from leasehold.client.nouns.egress import Identities
from leasehold.client.nouns.jobs import Jobs
from leasehold.client.nouns.kinds import Kinds
from leasehold.client.nouns.metrics import Metrics
from leasehold.client.nouns.payloads import Payloads
from leasehold.client.nouns.queues import Queues
from leasehold.client.nouns.schedules import Schedules
from leasehold.client.nouns.sources import Sources
from leasehold.client.nouns.tokens import Tokens
from leasehold.client.nouns.workers import Workers
from leasehold.database import Caller, Database, OpenTransaction
from leasehold.database.calls import Hooks
from leasehold.errors import BadInput
from leasehold.events import Event, JobCancelled, JobRequeued
from leasehold.jobs.kind import Kind
from leasehold.jobs.middleware import EnqueueMiddleware
from leasehold.notify.doorbell import Doorbell
from leasehold.payloads.options import PayloadOptions
from leasehold.records.jobs import JobRecord

E = TypeVar("E", bound=Event)
R = TypeVar("R")


class Client(Enqueues):
    """Calls the SQL functions over a database of either flavour.

    Args:
        database: from `open_database` or `open_asyncio_database`.
        app: when given, args are checked against its kinds, and a kind is refused that neither it nor every worker knows
            (`echo`, `dummy`).
        doorbell: when given, workers are woken after the commit instead of by NOTIFY inside it.
        listens: whether `wait` may open a connection that listens; without, it polls.
        convoy: when given, single jobs that are enqueued at the same time share a statement.
        payloads: where payloads lie; `open_client` takes a folder or an address.
        closes: what `close` does; without, whoever has opened the database closes it.

    Every call raises `DatabaseUnavailable` when the database does not answer, and `SchemaMismatch` when
    `leasehold migrate` has not been run.
    """

    def __init__(
        self,
        database: Caller,
        *,
        app: App | None = None,
        doorbell: Doorbell | None = None,
        listens: bool = True,
        convoy: Convoy | None = None,
        payloads: PayloadOptions | None = None,
        closes: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._closes = closes
        super().__init__(Core(database, app, doorbell, listens, convoy, payloads or PayloadOptions()))

    async def get(self, job_id: int) -> JobRecord:
        """Return one job. Args and an output that lie in the payload store are loaded, where this client has the store;
        elsewhere a claim check stands in their place (docs/payloads.md).

        Example:
            job = await client.get(42)
            print(job.state, job.output)

        Raises:
            UnknownJob: no job has this id.
            PayloadMissing, PayloadDamaged, StoreUnavailable: args or output cannot be loaded.
        """
        return await self._core.locker.filled(await self._ask(asks.get_job(job_id)))

    async def cancel(self, job_id: int, reason: str | None = None) -> str:
        """Cancel a job that has not finished; returns the state it was in. A handler that runs is told to stop.

        Args:
            reason: stands in the job's error and in its timeline.

        Raises:
            UnknownJob: no job has this id.
            WrongState: the job has finished.
        """
        was = await self._ask(asks.cancel_job(job_id, reason))
        if JobCancelled in self._core.observers.subscribed:
            self._core.observers.emit(JobCancelled(job_id=job_id, was=was, reason=reason))
        return was

    async def retry(self, job_id: int) -> str:
        """Run a failed or cancelled job once more, or a scheduled one now; returns its new state.

        Raises:
            UnknownJob: no job has this id.
            WrongState: the job is ready, a worker holds it, or it has completed.
            UniqueConflict: another job has its unique key by now.
        """
        state = await self._ask(asks.retry_job(job_id))
        if JobRequeued in self._core.observers.subscribed:
            self._core.observers.emit(JobRequeued(job_id=job_id, state=state))
        return state

    @overload
    async def wait(self, chain_id: int, *, timeout: float | timedelta | None = None) -> Any: ...
    @overload
    async def wait(self, chain_id: int, *, kind: Kind[..., R], timeout: float | timedelta | None = None) -> R: ...
    async def wait(
        self, chain_id: int, *, kind: Kind[..., Any] | None = None, timeout: float | timedelta | None = None
    ) -> Any:
        """Wait until a chain ends, and return its output.

        All waits of a client share one connection that listens and one statement that looks: at once, after 50 ms, then
        less and less often, every 5 s in the end. A wait goes on while the database is away. `client.chains.wait`
        returns the chain instead, also where it failed or was cancelled.

        Example:
            total = await client.wait(await client.enqueue(add_up.new(2026)), kind=add_up, timeout=30)

        Args:
            chain_id: id of the first job, as `enqueue` returns it.
            kind: of the first job. The output is then checked against what its handler returns, and typed.
            timeout: seconds or timedelta; 0 looks once, None waits without end.

        Raises:
            ChainFailed, ChainCancelled: the chain ended without an output; `error.chain` says how. It opens again when its
                last job is retried.
            WaitTimeout: the chain is still open, and goes on.
            UnknownJob: there is no chain of this id, or it was deleted meanwhile.
            PayloadMissing, PayloadDamaged, StoreUnavailable: the output lies in the payload store and cannot be loaded.
            BadInput: the output does not fit `kind`, which may be no kind, or the client is not on a pool of connections.
        """
        asks.check_kind(kind)
        chain = await self._core.ends.wait(chain_id, timeout)
        return asks.output_of(await self._core.locker.filled(chain), kind)

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[OpenTransaction]:
        """Open a transaction on the client's pool: it commits with the block, or rolls back when the block raises.

        Workers are woken and events are told after the commit; without a commit, they are not. `tx.savepoint()` undoes a part.

        Example:
            async with client.transaction() as tx:
                await tx.execute("insert into orders values ($1)", 42)
                await client.enqueue(ship.new(order=42), connection=tx)

        Raises:
            BadInput: the client does not call the database over a pool.
            DatabaseUnavailable: also on the commit; nobody knows then whether it took place.
        """
        database = self._database
        if not isinstance(database, Database):
            raise BadInput(f"only a client of open_client has transactions, not one that calls over {database!r}")
        async with database.transaction() as transaction:
            yield transaction

    @asynccontextmanager
    async def hooks(self) -> AsyncGenerator[Hooks]:
        """Collect what must wait for the commit of your own connection, and do it when the block ends.

        `enqueue(..., hooks=hooks)` puts off waking workers and telling events. A block that raises drops both. To choose
        the moment, call `await hooks.flush()` or `hooks.discard()` inside the block.

        Example:
            async with client.hooks() as hooks, connection.transaction():
                await client.enqueue(ship.new(order=42), connection=connection, hooks=hooks)
        """
        hooks = Hooks()
        try:
            yield hooks
        except BaseException:
            hooks.discard()
            raise
        await hooks.flush()

    async def close(self) -> None:
        """Close a client that `connect` has opened, after what it still has to tell workers. A second time does nothing.

        Raises:
            BadInput: another way than `connect` has opened it, and the end of its block closes it; or another event loop has.
        """
        if self._closes is None:
            raise BadInput(
                "the end of its `async with` block closes this client; one of connect() is closed by close()"
            )
        if isinstance(self._database, Database) and not self._database.is_closed:
            self._database.refuse_stranger()
        await self._closes()

    @property
    def __lends__(self) -> tuple[Caller, PayloadOptions]:
        """What `leasehold.worker` takes from this client: its database, and where payloads lie."""
        return self._core.database, self._core.payloads

    async def ping(self) -> None:
        """Ask the database for the time.

        Raises:
            DatabaseUnavailable: it does not answer.
            SchemaMismatch: it does not have the schema of this version.
        """
        await self._database.call("clock")

    def enqueue_middleware(self, function: EnqueueMiddleware) -> None:
        """Put a middleware around what this client enqueues, inside those of its app.

        Raises:
            BadInput: it is not a function of two arguments.
        """
        validation.check_middleware(function, "the jobs and call_next")
        self._core.middlewares.append(function)

    def subscribe(self, event_type: type[E], function: Callable[[E], object]) -> Callable[[], None]:
        """Call `function` with each event of this type that this client tells; returns what ends that again.

        A client with an app shares the events of that app: see `App.subscribe`.
        """
        return self._core.observers.subscribe(event_type, function)

    @cached_property
    def jobs(self) -> Jobs:
        """Jobs beyond get, cancel and retry: `await client.jobs.list(state="failed")`."""
        return Jobs(self._core)

    @cached_property
    def kinds(self) -> Kinds:
        """Kinds of jobs, as the catalogue has them: `await client.kinds.get("charge")`."""
        return Kinds(self._core)

    @cached_property
    def chains(self) -> Chains:
        """Chains of jobs: `await client.chains.get(42)`."""
        return Chains(self._core)

    @cached_property
    def schedules(self) -> Schedules:
        """Schedules, which make jobs by the clock: `await client.schedules.list()`."""
        return Schedules(self._core)

    @cached_property
    def egress(self) -> Identities:
        """Identities under which jobs call servers of others: `await client.egress.list()`."""
        return Identities(self._core)

    @cached_property
    def queues(self) -> Queues:
        """Queues and their limits: `await client.queues.pause("mail")`."""
        return Queues(self._core)

    @cached_property
    def workers(self) -> Workers:
        """Workers: `await client.workers.list()`."""
        return Workers(self._core)

    @cached_property
    def commands(self) -> Commands:
        """What workers were told to do: `await client.commands.wait(7)`."""
        return Commands(self._core)

    @cached_property
    def capacity(self) -> Capacity:
        """What queues need and can do: `await client.capacity.get("mail")`."""
        return Capacity(self._core)

    @cached_property
    def metrics(self) -> Metrics:
        """Numbers for dashboards and alerts: `await client.metrics.counts()`."""
        return Metrics(self._core)

    @cached_property
    def changes(self) -> Changes:
        """What happens in the whole service, as it happens or afterwards: `client.changes.follow()`."""
        return Changes(self._core)

    @cached_property
    def payloads(self) -> Payloads:
        """What is too large for a row: `await client.payloads.save(pages, kind="catalogue", key="shop 7")`."""
        return Payloads(self._core)

    @cached_property
    def tokens(self) -> Tokens:
        """Access tokens of the gateway: `await client.tokens.list()`."""
        return Tokens(self._core)


def sources_of(client: Client) -> Sources:
    """Other queues that move in: `await sources_of(client).plan()`. It is no noun of the client, for nobody needs it afterwards."""
    return Sources(client._core)  # pyright: ignore[reportPrivateUsage]
