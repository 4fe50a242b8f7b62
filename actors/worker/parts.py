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

from collections.abc import Callable
from functools import cache

import trio

from leasehold.actors.attempts.context import WorkerContext
from leasehold.actors.attempts.held_job import Backlog
from leasehold.actors.attempts.progress import ProgressWriter
from leasehold.actors.leases.cancels import Cancels
from leasehold.actors.leases.dispatcher import Dispatcher
from leasehold.actors.leases.keeper import Keeper
from leasehold.actors.leases.sweeper import LeaseSweeper
from leasehold.actors.leases.watcher import Pulse
from leasehold.actors.processes.pool import ProcessPool, pool_for
from leasehold.actors.running.crew import Crew
from leasehold.actors.running.job_host import WorkerJobHost
from leasehold.actors.running.settler import Settler
from leasehold.actors.running.slot import Roster, SlotContext
from leasehold.actors.worker.backpressure import Backpressure, BackpressureLimits
from leasehold.actors.worker.machine import Reading, Resources
from leasehold.concurrency.signal import Signal
from leasehold.database import Caller


class WorkerParts(WorkerContext, frozen=True, eq=False):
    """Everything that one worker is made of. `is_urgent` is set when its row has something new to show."""

    roster: Roster
    is_urgent: Signal
    backpressure: Backpressure
    backlog: Backlog
    dispatcher: Dispatcher
    host: WorkerJobHost
    progress: ProgressWriter
    settler: Settler
    pulse: Pulse
    keeper: Keeper
    cancels: Cancels
    sweeper: LeaseSweeper
    processes: ProcessPool | None
    crew: Crew


def assemble(
    worker: WorkerContext, connections: tuple[Caller, Caller], read: Callable[[], Reading] | None = None
) -> WorkerParts:
    """Make the parts of a worker; nothing runs yet.

    Args:
        worker: what they share.
        connections: for claims and for outcomes; reserved ones, but where the pool is lent.
        read: memory and CPU; those of this machine by default.
    """
    claims, outcomes = connections
    caller, settings, app = worker.process.caller, worker.process.settings, worker.process.app
    identity, mode, holdings = worker.identity, worker.mode, worker.holdings
    roster, is_urgent, backlog, pulse = Roster(), Signal(), Backlog(), Pulse()
    mode.subscribe(is_urgent.set)

    host = WorkerJobHost(holdings, app, worker.process.payloads)
    progress = ProgressWriter(caller, identity, host.progress_sink, holdings.get)
    holdings.subscribe(lambda _: progress.hurry())
    settler = Settler(outcomes, identity, holdings, worker.announcer, host.progress_sink)

    limits = BackpressureLimits(settings.memory_backoff, settings.cpu_backoff, settings.backoff_seconds)
    backpressure = Backpressure(read or Resources().read, limits, mode, roster, is_urgent.set)
    sweeper = LeaseSweeper(caller, settings.poll_seconds, lambda: backlog.idle_slots > 0, app.observers)
    worker.process.outage.subscribe(sweeper.database_lost)

    def back_off_for() -> float:
        return backpressure.back_off_for() or settler.back_off_for(mode.slots)

    dispatcher = Dispatcher(worker, claims, backlog, pulse, back_off_for, sweeper)
    cancels = Cancels(caller)
    keeper = Keeper(worker, pulse, cancels.lose)
    processes = pool_for(app, mode.slots, host.progress_sink)
    slots = SlotContext(
        identity, trio.CapacityLimiter(mode.slots), backlog, settler.outcomes, middlewares=cache(app.middlewares_of),
        announcer=worker.announcer, processes=processes, host=host, holdings=holdings, mode=mode, roster=roster,
    )  # fmt: skip
    return WorkerParts(
        process=worker.process, identity=identity, mode=mode, holdings=holdings, announcer=worker.announcer, roster=roster,
        is_urgent=is_urgent, backpressure=backpressure, backlog=backlog, dispatcher=dispatcher, host=host, progress=progress,
        settler=settler, pulse=pulse, keeper=keeper, cancels=cancels, sweeper=sweeper, processes=processes, crew=Crew(slots),
    )  # fmt: skip
