"""The log lines about outcomes."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from time import monotonic

from leasehold.actors.attempts.outcome import Completed, Failed
from leasehold.database import Row

log = logging.getLogger(__name__)

MOST_NAMED = 10


def log_completions(outcomes: Sequence[Completed], refusals: Sequence[Row]) -> None:
    """Log completed jobs: a line for each where they are few, else only how many."""
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
    """Log failed attempts: in one line, and after the last attempt with the traceback.

    An attempt without a row had completed its job before its handler raised. But if its job is in `unanswered`, this
    write repeats one whose answer was lost.
    """
    for outcome in outcomes:
        row = rows.get(outcome.held.id)
        if row is None and outcome.held.id in unanswered:
            text = "job %s: failure repeated, the first one was heard"
            log.debug(text, outcome.held.id, extra={"job_id": outcome.held.id})
        elif row is None:
            log.warning(
                "job %s: attempt %s raised after it had completed the job: %s",
                outcome.held.id,
                outcome.held.attempt,
                _in_a_line(outcome),
                extra={"job_id": outcome.held.id, "attempt": outcome.held.attempt},
            )
        elif row["outcome"] != "refused":
            _log_failure(outcome, row["outcome"])


def _log_failure(outcome: Failed, became: str) -> None:
    held = outcome.held
    fields = {"job_id": held.id, "kind": held.row["kind"], "attempt": held.attempt}
    if became == "failed":
        text, level = "job %s of kind %s failed for good with attempt %s: %s", logging.ERROR
        log.log(
            level,
            text,
            held.id,
            held.row["kind"],
            held.attempt,
            _in_a_line(outcome),
            extra=fields | {"error": outcome.error},
        )
    else:
        text, level = "job %s of kind %s failed attempt %s, now %s: %s", logging.WARNING
        log.log(level, text, held.id, held.row["kind"], held.attempt, became, _in_a_line(outcome), extra=fields)


def _in_a_line(outcome: Failed) -> str:
    error = outcome.error
    place = f" ({error['place']})" if "place" in error else ""
    return f"{error['type']}: {error['message']}{place}"
