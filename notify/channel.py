"""The NOTIFY channel and its payloads.

    wake                     every worker looks for jobs
    wake:QUEUE               every worker that serves the queue looks for jobs
    ring:NAMES:QUEUE         as wake:QUEUE, but only these workers; NAMES are the first eight characters of their
                             incarnations, with commas between
    reap                     the reaper looks for expired leases
    tick                     the scheduler looks for due jobs and due schedules
    lost:ID:ATTEMPT:REASON   the worker of this attempt does not hold the job any more
    pause:QUEUE              the queue was paused: workers hand back its jobs that have not begun
    command:INCARNATION      there is a command for this worker
    closed:CHAIN             a chain that somebody waits for has ended or was deleted
    ping:TOKEN               a listener checks whether it hears its own notifications

A notification only makes things faster. Anybody with psql can send one, so a payload may be nonsense.
"""

from __future__ import annotations

from uuid import UUID

import msgspec

CHANNEL = "leasehold"
DEAF = (
    "a pooler before Postgres keeps notifications away, so we poll: name a direct connection in "
    "LEASEHOLD_DIRECT_DATABASE_URL, or set LEASEHOLD_NOTIFY=off (said once)"
)
MAX_PAYLOAD = 1000
NAME_LENGTH = 8


class Wake(msgspec.Struct, frozen=True):
    """Look for jobs.

    Attributes:
        queue: for the workers that serve it; None: every queue.
        names: for these workers, by the first eight characters of their incarnations; None: all.
    """

    queue: str | None = None
    names: frozenset[str] | None = None

    def means(self, incarnation: UUID) -> bool:
        """Whether the notice is for the worker with this incarnation."""
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
    """A listener checks whether it hears its own notifications."""

    token: str


WITH_TEXT = {"ping": Ping, "pause": Pause, "command": CommandNotice}
Notice = Wake | Reap | TickNotice | Lost | Pause | CommandNotice | Closed | Ping


def parse_notice(payload: str) -> Notice | None:
    """The notice in a payload; None where the payload is no notice."""
    verb, _, rest = payload.partition(":")
    match verb:
        case "wake" | "ring" if len(payload) <= MAX_PAYLOAD:
            return _parse_wake(payload) if verb == "wake" else _parse_ring(rest)
        case "reap" | "tick" if not rest:
            return Reap() if verb == "reap" else TickNotice()
        case "ping" | "pause" | "command" if rest:
            return WITH_TEXT[verb](rest)
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
