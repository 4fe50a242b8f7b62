"""What people read about outcomes."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from time import monotonic

from leasehold.actors.attempts.outcome import Completed, Failed
from leasehold.database import Row

log = logging.getLogger(__name__)

MOST_NAMED = 10


def log_completions(outcomes: Sequence[Completed], refusals: Sequence[Row]) -> None:
    """Tell people about completed jobs, by name where they are few."""
    if not log.isEnabledFor(logging.INFO):
        return
    if len(outcomes) > MOST_NAMED:
        log.debug("%d jobs completed", len(outcomes) - len(refusals))
        return
    refused = {row["job_id"] for row in refusals}
    now = monotonic()
    for outcome in outcomes:
        held = outcome.held
        if held.id not in refused:
            log.info(
                "completed job %s of kind %s in %.3f s",
                held.id,
                held.row["kind"],
                held.ran_for(now),
                extra={"job_id": held.id, "kind": held.row["kind"], "attempt": held.attempt},
            )


def log_failures(outcomes: Sequence[Failed], rows: Mapping[int, Row], unanswered: Collection[int]) -> None:
    """Tell people about failed attempts. No row: this attempt had ended before, and its handler raised all the same; unless
    the first write went `unanswered`, and this was its repetition."""
    for outcome in outcomes:
        row = rows.get(outcome.held.id)
        if row is None and outcome.held.id in unanswered:
            log.debug("job %s: failure repeated, the first one was heard", outcome.held.id)
        elif row is None:
            log.warning(
                "job %s: attempt %s raised after it had completed the job (%s: %s)",
                outcome.held.id,
                outcome.held.attempt,
                outcome.error["type"],
                outcome.error["message"],
                extra={"job_id": outcome.held.id, "attempt": outcome.held.attempt},
            )
        elif row["outcome"] != "refused":
            log.warning(
                "job %s of kind %s failed attempt %s (%s: %s), now %s",
                outcome.held.id,
                outcome.held.row["kind"],
                outcome.held.attempt,
                outcome.error["type"],
                outcome.error["message"],
                row["outcome"],
                extra={"job_id": outcome.held.id, "kind": outcome.held.row["kind"], "attempt": outcome.held.attempt},
            )
