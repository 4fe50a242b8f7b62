"""Queues and their limits, as the reading functions answer with them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec


class QueueCounts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many jobs a queue has in a state. Big tables are not counted for each who asks: `counted_at` tells when they were,
    None if just now."""

    queue: str
    state: str
    jobs: int
    counted_at: datetime | None = None


class QueueRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A queue that exists: it has jobs, settings, limits or workers.

    Attributes:
        paused_at, pause_reason: since when nothing is claimed from it, and why; None where it is not paused.
        counts: how many jobs it has in each state, as far as there are any.
        workers: how many live ones serve it.
        limits: how many limits are set on it and its key groups.
        ageing_seconds: how long a pending job waits for one more priority; None: it keeps the one it has.
        unserved_kinds: have ready jobs here that no live worker serves; none while it is paused.
    """

    queue: str
    paused_at: datetime | None
    pause_reason: str | None
    counts: dict[str, int]
    workers: int
    limits: int
    ageing_seconds: float | None
    unserved_kinds: list[str]


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
