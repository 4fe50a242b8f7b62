"""I12: no outage costs an attempt. A handler that cannot fail by itself is charged for nothing that its own worker writes down.

Those that write their effects may meet locks and statement timeouts, which are charged: of an outage they must not end for good.
"""

from __future__ import annotations

from collections.abc import Iterator

from faults.checker.effects import PAYS
from faults.checker.fencing import writes_as_owner
from faults.checker.violation import Violation
from faults.history.history import History
from faults.history.records import HELD, Change, End

CANNOT_FAIL = frozenset({"plain", "linger", "in_thread", "link", "ticked"})


def judge_charges(history: History) -> Iterator[Violation]:
    """Attempts that were given back, and ends."""
    for job, versions in history.versions.items():
        spared = 0
        for each in versions:
            match each:
                case Change(kind=kind) if kind in CANNOT_FAIL and each.spared == spared and gave_back(history, each):
                    yield Violation("I12", f"job {job} of kind {kind} was charged, and nothing in it can fail", [each])
                case End(state="failed", kind=kind, error=error) if (
                    kind in CANNOT_FAIL and by_owner(history, each)
                ) or (kind in PAYS and error == "DatabaseUnavailable"):
                    yield Violation("I12", f"job {job} of kind {kind} failed for good: {error}", [each])
                case _:
                    pass
            if isinstance(each, Change):
                spared = each.spared


def gave_back(history: History, change: Change) -> bool:
    """Whether the worker that held the job wrote down that its attempt is over, and the job runs again."""
    is_over = change.old_state in HELD and change.state in ("pending", "scheduled", "waiting")
    is_alive = change.old_lease is None or change.old_lease >= change.at
    return is_over and is_alive and by_owner(history, change)


def by_owner(history: History, each: Change | End) -> bool:
    """Whether the process wrote it that held the job."""
    owner = each.old_owner if isinstance(each, Change) else each.owner
    return owner is not None and writes_as_owner(history, each.by, owner)
