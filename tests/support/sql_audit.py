"""Watches every change of a job row from inside the database, as the fault machine does, and judges it by the machine's rules."""

from __future__ import annotations

from faults.checker.exclusion import judge_exclusion
from faults.checker.fencing import judge_attempts, judge_states
from faults.history.collecting import collect, install_watch
from faults.history.history import History
from faults.history.records import Change, End, Left
from leasehold.database import Database


def watch(database: Database) -> None:
    """From now on every change is noted."""
    install_watch(database.dsn)


def broken_rules(database: Database) -> list[str]:
    """What happened that must never happen, in words; empty when all is well."""
    history = History(collect(database.dsn))
    found = [each for job in history.versions for rule in (judge_attempts, judge_states) for each in rule(history, job)]
    there = {each.job for each in history.of(Left) if isinstance(history.versions[each.job][-1], End)}
    both = [f"job {job} has ended and is there all the same" for job in sorted(there)]
    # The machine edits jobs, and races do not.
    edits = [
        f"job {each.job} went from {each.old_state} to {each.state}, as by an edit"
        for each in history.of(Change)
        if each.old_state in ("pending", "scheduled", "waiting") and each.state in (each.old_state, "blocked")
    ]
    return [*both, *edits, *(each.describe() for each in (*found, *judge_exclusion(history)))]
