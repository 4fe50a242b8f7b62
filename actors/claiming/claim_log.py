"""What the log says of jobs that were claimed."""

from __future__ import annotations

import logging

import msgspec

from leasehold.actors.attempts.held_job import HeldJob

log = logging.getLogger(__name__)

MOST_NAMED = 10


def log_claims(jobs: list[HeldJob], was_rung: bool) -> None:
    """Log claimed jobs: a line for each of a few, only the number of many. `was_rung`: a notification came first."""
    if len(jobs) > MOST_NAMED:
        log.debug("claimed %d jobs", len(jobs))
        return
    if not log.isEnabledFor(logging.INFO):
        return
    for held in jobs:
        row = held.row
        log.info(
            "claimed job %s of kind %s for %s (attempt %s)",
            held.id,
            row["kind"],
            row["key"] or row["queue"],
            held.attempt,
            extra={"job_id": held.id, "kind": row["kind"], "attempt": held.attempt, "woken": was_rung},
        )


class DispatcherStatistics(msgspec.Struct, frozen=True):
    """Counts since the start.

    Attributes:
        claimed: jobs. claims: statements. empty_claims: statements that found nothing. looks: polls that made no claim,
            because nothing was pending.
        wake_ups: times a notification ended the wait. lost_wake_ups: jobs that a poll found without a notification,
            although this worker had been idle and listening for half a second.
        handed_back: claimed jobs given back unstarted. leaked: jobs whose claim only a reconciliation found.
    """

    claimed: int
    claims: int
    empty_claims: int
    looks: int
    wake_ups: int
    lost_wake_ups: int
    handed_back: int
    leaked: int
