"""Queues and their limits, as the reading functions answer with them, and kinds, as the catalogue has them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec


class QueueCounts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many jobs a queue has in a state. Big tables are not counted for each who asks: `counted_at` tells when they were,
    None if just now. Pending jobs of a queue that had none then are counted up to a thousand; `is_partial`: there may be more."""

    queue: str
    state: str
    jobs: int
    counted_at: datetime | None = None
    is_partial: bool = False


class QueueRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A queue that exists: it has jobs, settings, limits or workers.

    Attributes:
        paused_at, pause_reason: since when nothing is claimed from it, and why; None where it is not paused.
        counts: how many jobs it has in each state, as far as there are any.
        workers: how many live ones serve it.
        limits: how many limits are set on it and its key groups.
        ageing_seconds: how long a pending job waits for one more priority; None: it keeps the one it has.
        unserved_kinds: have ready jobs here that no live worker serves; none while it is paused.
        counted_at: when the oldest of the counts was made; None if all of them just now.
        is_partial: the count of pending jobs ended at a thousand, there may be more.
    """

    queue: str
    paused_at: datetime | None
    pause_reason: str | None
    counts: dict[str, int]
    workers: int
    limits: int
    ageing_seconds: float | None
    unserved_kinds: list[str]
    counted_at: datetime | None = None
    is_partial: bool = False


class LimitRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A limit and how far it is used. `key_group` is empty for the queue as a whole, `*` for each group of it.

    Attributes:
        max_running: how many jobs may be held at once, None for any number.
        rate: starts a second on the long run, None for any number; `burst` at once.
        running: jobs held under it; of `*` those of the group that holds most.
        tokens: how many may start now; of `*` in the group that has fewest. None without a rate.
        next_token_in: seconds until one more may start, 0 when one may now. None without a rate.
    """

    queue: str
    key_group: str
    max_running: int | None
    rate: float | None
    burst: int | None
    running: int
    tokens: float | None
    next_token_in: float | None


class QueueReason(msgspec.Struct, frozen=True, kw_only=True):
    """What the pending jobs of a queue wait for.

    Attributes:
        reason: paused, unserved, paused_workers, backing_off, limited or busy.
        explanation: a sentence for people. facts: the same for programs.
        until: when this is expected to end; None where nobody knows.
    """

    reason: str
    explanation: str
    until: datetime | None
    facts: dict[str, Any]


class KeyGroupRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A key group of a queue.

    Attributes:
        held: jobs that workers have.
        pending: jobs that may start, counted up to 1000; waits_for: seconds that the first of them has waited.
    """

    key_group: str
    held: int
    pending: int
    waits_for: float | None


class KindConflict(msgspec.Struct, frozen=True, kw_only=True):
    """Another version of an app that says something else of a kind.

    Attributes:
        app, app_version: which; None where nobody said.
        declared_at: when a process last said it.
        fields: what it says differently.
        workers: how many live ones run that version.
    """

    app: str | None
    app_version: str | None
    declared_at: datetime
    fields: list[str]
    workers: int


class KindRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A kind that an app has declared: what its jobs get where nothing is said. None: the database's default.

    Attributes:
        timeout: seconds that its handler may run; the worker keeps it.
        deadline: seconds after which an unfinished job fails.
        retry: its back-off (initial, multiplier, cap, step); that of the worker where None.
        unique: which jobs count as equal.
        key, key_group: where in the args a job's own are, such as `args.order_id`.
        checks_args: whether enqueueing refuses args that do not fit `args_schema`.
        args_schema, output_schema: JSON Schemas; None where there is none.
        app, app_version: who says so; None where nobody said.
        declared_at: when a process of that version last said so.
        conflicts: other versions that say something else.
        workers: how many live ones serve it; 0 where no app has it any more, or none runs.
    """

    kind: str
    queue: str | None
    priority: int | None
    max_attempts: int | None
    timeout: float | None
    deadline: float | None
    retry: dict[str, Any] | None
    unique: dict[str, Any] | None
    key: str | None
    key_group: str | None
    checks_args: bool
    args_schema: dict[str, Any] | None
    output_schema: dict[str, Any] | None
    app: str | None
    app_version: str | None
    declared_at: datetime
    conflicts: list[KindConflict]
    workers: int = 0


class DeclaredKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind after it was declared; `outcome` is created, changed, unchanged, or older: another version wins."""

    kind: str
    outcome: str


class DroppedKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind that was taken out of the catalogue."""

    kind: str
