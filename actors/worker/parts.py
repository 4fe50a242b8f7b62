"""The parts of a worker, and how they are put together.

listener -- wake-ups --> dispatcher --> backlog --> slots --> settler
                             |                        |          |
                             +-------- holdings ------+----------+
                                          ^ the watcher starts a sibling for each long job
                                          ^ the lease keeper, in its own thread, renews

Each part gets what it needs when it is made. What changes while the worker lives is in the mode, the roster and the
holdings, which several parts share.
"""

from __future__ import annotations

import msgspec
import trio

from leasehold.actors.attempts.announcer import Announcer
from leasehold.actors.attempts.held_job import HeldJob, Holdings
from leasehold.actors.attempts.progress import ProgressWriter
from leasehold.actors.epochs import EpochWatch
from leasehold.actors.identity import WorkerIdentity, WorkerMode
from leasehold.actors.leases.backlog import Backlog
from leasehold.actors.leases.dispatcher import Dispatcher
from leasehold.actors.leases.keeper import Keeper
from leasehold.actors.leases.watcher import Pulse
from leasehold.actors.processes.pool import ProcessPool, pool_for
from leasehold.actors.running.crew import Crew, Roster
from leasehold.actors.running.invocation import MiddlewareChains
from leasehold.actors.running.job_host import WorkerJobHost
from leasehold.actors.running.settler import Settler
from leasehold.actors.running.slot import SlotContext
from leasehold.actors.supervise import Outage
from leasehold.actors.upkeep.sweeper import LeaseSweeper
from leasehold.actors.worker.backpressure import Backpressure, BackpressureLimits, Readable
from leasehold.actors.worker.kinds import slots_of
from leasehold.actors.worker.machine import Resources
from leasehold.app import App
from leasehold.concurrency.signal import Signal
from leasehold.database import Database, ReservedConnection
from leasehold.jobs.endings import RetryPolicy
from leasehold.notify.switchboard import Switchboard
from leasehold.payloads.options import payload_options
from leasehold.settings import Settings


class WorkerParts(msgspec.Struct, frozen=True, eq=False):
    """Everything that one worker is made of. `news` is set when its row has something new to show."""

    identity: WorkerIdentity
    mode: WorkerMode
    holdings: Holdings
    roster: Roster
    news: Signal
    announcer: Announcer
    backpressure: Backpressure
    backlog: Backlog
    dispatcher: Dispatcher
    host: WorkerJobHost
    progress: ProgressWriter
    settler: Settler
    pulse: Pulse
    keeper: Keeper
    sweeper: LeaseSweeper
    processes: ProcessPool | None
    crew: Crew


def assemble(
    database: Database,
    connections: tuple[ReservedConnection, ReservedConnection],
    settings: Settings,
    app: App,
    switchboard: Switchboard,
    worker_id: str,
    resources: Readable | None = None,
    outage: Outage | None = None,
    epochs: EpochWatch | None = None,
) -> WorkerParts:
    """Make the parts of a worker; nothing runs yet.

    Args:
        database: of the process.
        connections: reserved connections, for claims and for outcomes.
        settings: of the process.
        app: its kinds.
        switchboard: where notices arrive.
        worker_id: of the worker.
        resources: memory and CPU; those of this machine by default.
        outage: of the process, told when the keeper cannot reach the database; tells the sweeper of each loss.
        epochs: of the process.
    """
    claims, outcomes = connections
    identity = identity_of(settings, worker_id)
    holdings: Holdings = {}
    slots = slots_of(settings, app)
    mode, roster, news, backlog = WorkerMode(slots), Roster(), Signal(), Backlog()
    pulse = Pulse()
    announcer = Announcer(app.observers, identity)
    limits = BackpressureLimits(settings.memory_backoff, settings.cpu_backoff, settings.backoff_seconds)
    backpressure = Backpressure(resources or Resources(), limits, mode, roster, news.set)
    sweeper = LeaseSweeper(database, settings.poll_seconds, lambda: backlog.idle_slots > 0, app.observers)
    dispatcher = Dispatcher(
        claims, identity, mode, app, backlog, holdings, settings.poll_seconds, lambda: switchboard.listening,
        announcer, lambda: backpressure.hold_for() or settler.hold_for(mode.slots), epochs, pulse.stir,
        sweeper, switchboard.doubted.set,
    )  # fmt: skip
    host = WorkerJobHost(holdings, app, payload_options(settings))
    progress = ProgressWriter(database, identity, host.progress_sink, holdings.get)

    def jobs_settled(count: int) -> None:
        dispatcher.job_ended(count)
        progress.hurry()

    settler = Settler(outcomes, identity, holdings, jobs_settled, announcer, host.progress_sink, dispatcher.wake)
    outage = outage or Outage()
    outage.subscribe(sweeper.database_lost)
    keeper = Keeper(database.dsn, identity, holdings, HeldJob.lose, pulse, announcer, outage.lost, epochs)
    processes = pool_for(app, slots, host.progress_sink)
    context = SlotContext(
        identity, trio.CapacityLimiter(slots), settler.put, MiddlewareChains(app), announcer, processes, host
    )
    crew = Crew(context, mode, roster, backlog, dispatcher, settler, holdings)
    mode.subscribe(news.set)
    return WorkerParts(
        identity, mode, holdings, roster, news, announcer, backpressure, backlog, dispatcher, host, progress, settler,
        pulse, keeper, sweeper, processes, crew,
    )  # fmt: skip


def identity_of(settings: Settings, worker_id: str) -> WorkerIdentity:
    """The identity of a worker with these settings."""
    return WorkerIdentity(
        worker_id,
        queues=settings.queues,
        lease_seconds=settings.lease_seconds,
        renew_seconds=settings.renew_seconds,
        retry=RetryPolicy(
            initial=settings.retry_initial_seconds,
            multiplier=settings.retry_multiplier,
            cap=settings.retry_cap_seconds,
        ),
    )
