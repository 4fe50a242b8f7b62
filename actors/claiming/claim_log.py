"""What the log says of jobs that were claimed."""

from __future__ import annotations

import logging

from leasehold.actors.attempts.held_job import HeldJob

log = logging.getLogger("leasehold.actors.claiming.dispatcher")

MOST_NAMED = 10


def log_claims(jobs: list[HeldJob], was_rung: bool) -> None:
    """Name each of a few jobs, count many."""
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
