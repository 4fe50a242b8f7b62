"""The channel, and what may be said on it.

    wake            every worker looks for jobs            wake:QUEUE   those that serve the queue
    ring:NAMES:QUEUE   of those that serve the queue these do; NAMES are the first eight characters of their incarnations,
                    with commas between
    reap            the reaper looks for expired leases    tick         the scheduler looks for due jobs
    lost:ID:ATTEMPT:REASON   the owner of that attempt does not hold the job any more
    pause:QUEUE     nothing is claimed from the queue any more: hand back what has not begun
    command:INCARNATION      a command for that worker
    closed:CHAIN    a chain that is waited for has ended (or was deleted)
    ping:TOKEN      a listener asking itself whether it still hears

A notification only makes things faster. Anybody with psql can send one, so nonsense is expected.
"""

from __future__ import annotations

from uuid import UUID

import msgspec

CHANNEL = "leasehold"
MAX_PAYLOAD = 1000
NAME_LENGTH = 8


class Wake(msgspec.Struct, frozen=True):
    """Look for jobs; `queue` None means every queue. `names`: which workers, by the beginnings of their incarnations; None: all."""

    queue: str | None = None
    names: frozenset[str] | None = None

    def means(self, incarnation: UUID) -> bool:
        """Whether the worker with this incarnation is to look."""
        return self.names is None or str(incarnation)[:NAME_LENGTH] in self.names


class Reap(msgspec.Struct, frozen=True):
    """Look for expired leases."""


class TickNotice(msgspec.Struct, frozen=True):
    """Look for scheduled jobs that are due."""


class Lost(msgspec.Struct, frozen=True):
    """An attempt does not hold its job any more."""

    job_id: int
    attempt: int
    reason: str


class Pause(msgspec.Struct, frozen=True):
    """A queue was paused."""

    queue: str


class CommandNotice(msgspec.Struct, frozen=True):
    """There is a command for a worker; its next heartbeat brings it."""

    incarnation: str


class Closed(msgspec.Struct, frozen=True):
    """A chain has ended."""

    chain_id: int


class Ping(msgspec.Struct, frozen=True):
    """A listener's question to itself."""

    token: str


WITH_TEXT = {"ping": Ping, "pause": Pause, "command": CommandNotice}
Notice = Wake | Reap | TickNotice | Lost | Pause | CommandNotice | Closed | Ping


def parse_notice(payload: str) -> Notice | None:
    """What a payload says; None for nonsense."""
    word, _, rest = payload.partition(":")
    match word:
        case "wake" | "ring" if len(payload) <= MAX_PAYLOAD:
            return _parse_wake(payload) if word == "wake" else _parse_ring(rest)
        case "reap" | "tick" if not rest:
            return Reap() if word == "reap" else TickNotice()
        case "ping" | "pause" | "command" if rest:
            return WITH_TEXT[word](rest)
        case "lost":
            return _parse_lost(rest)
        case "closed" if _is_number(rest):
            return Closed(int(rest))
        case _:
            return None


def _parse_wake(payload: str) -> Wake | None:
    queue = payload.removeprefix("wake").removeprefix(":")
    return Wake(queue or None) if queue or payload == "wake" else None


def _parse_ring(text: str) -> Wake | None:
    names, _, queue = text.partition(":")
    return Wake(queue, frozenset(names.split(","))) if names and queue else None


def _parse_lost(text: str) -> Lost | None:
    parts = text.split(":")
    if len(parts) != 3 or not all(_is_number(part) for part in parts[:2]):
        return None
    return Lost(int(parts[0]), int(parts[1]), parts[2])


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 20
