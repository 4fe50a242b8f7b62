"""I14, I18: processes that live, sessions that are tidy, handlers that start only under their lease."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from faults.checker.violation import Violation
from faults.history.history import History
from faults.history.records import Health, Session

MOST_CONNECTIONS = 70  # of one process: its reserved ones, its pool, and the pool of its handlers
LONGEST_IDLE = 1.0  # seconds in a transaction that does nothing


def judge_hygiene(history: History) -> Iterator[Violation]:
    """What processes and sessions look like when everything is quiet again."""
    for health in history.of(Health):
        if health.exit_code is not None:
            yield Violation("I18", f"{health.process} ended by itself with exit code {health.exit_code}", [health])
        if health.complaints:
            yield Violation("I18", f"{health.process} complains: {health.complaints[0]}", [health])
    for session in history.of(Session):
        if session.idle_in_transaction > LONGEST_IDLE:
            seconds = session.idle_in_transaction
            yield Violation("I18", f"{session.by!r} has been idle in a transaction for {seconds:.1f} s", [session])
    for process, count in Counter(" ".join(each.by.split()[:3]) for each in history.of(Session)).items():
        if count > MOST_CONNECTIONS:
            yield Violation("I18", f"{process!r} has {count} connections", [])
