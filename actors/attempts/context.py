"""What all parts of one worker share."""

from __future__ import annotations

import msgspec

from leasehold.actors.attempts.announcer import Announcer
from leasehold.actors.attempts.held_job import Holdings
from leasehold.actors.identity import WorkerIdentity, WorkerMode
from leasehold.actors.process import Process
from leasehold.app import App
from leasehold.jobs.endings import RetryPolicy
from leasehold.settings import Settings

SLOTS = 3
ASYNCIO_SLOTS = 20
"""Handlers that wait for the network: few of them would leave the machine idle."""


class WorkerContext(msgspec.Struct, frozen=True, eq=False):
    """The record that each part of a worker is made from.

    Attributes:
        process: that the worker lives in.
        identity: its names, and the terms on which it holds jobs.
        mode: what it may do just now.
        holdings: the jobs that it holds.
        announcer: tells log and observers.
    """

    process: Process
    identity: WorkerIdentity
    mode: WorkerMode
    holdings: Holdings
    announcer: Announcer


def context_of(process: Process, worker_id: str) -> WorkerContext:
    """The context of a worker that holds nothing yet."""
    settings, app = process.settings, process.app
    identity = WorkerIdentity(
        worker_id,
        queues=settings.queues,
        lease_seconds=settings.lease_seconds,
        renew_seconds=settings.renew_seconds,
        retry=RetryPolicy(
            initial=settings.retry_initial_seconds,
            multiplier=settings.retry_multiplier,
            cap=settings.retry_cap_seconds,
            step=settings.retry_step_seconds,
        ),
    )
    mode = WorkerMode(slots_of(settings, app))
    return WorkerContext(process, identity, mode, Holdings(), Announcer(app.observers, identity))


def slots_of(settings: Settings, app: App) -> int:
    """The slots that the settings name, else what suits the app."""
    if settings.slots is not None:
        return settings.slots
    return ASYNCIO_SLOTS if app.runs == "asyncio" else SLOTS


def describe_slots(settings: Settings, app: App, slots: int) -> str:
    """The number for people, and where it is from if the app has made it: `20 slots (the default for runs='asyncio'; …)`."""
    if settings.slots is not None or app.runs != "asyncio":
        return f"{slots} slots"
    return f"{slots} slots (the default for runs='{app.runs}'; --slots or LEASEHOLD_SLOTS sets another number)"
