"""Holds what the ledger says against the jobs. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from statistics import quantiles

import msgspec

BOUND = 37.5
"""Seconds within which an execution that was killed has to begin again, as the original asks it: lease, reaping, margin."""


class Task(msgspec.Struct, frozen=True):
    """A job, as it ended."""

    id: int
    name: str
    state: str
    charged: int
    created_at: datetime
    finished_at: datetime | None
    attempt: int


class Note(msgspec.Struct, frozen=True):
    """A line of the ledger."""

    task_id: int
    nonce: str
    pid: int
    phase: str
    at: datetime


class Sample(msgspec.Struct, frozen=True):
    """A look at the fleet: jobs that wait, leases that ran out 12.5 s ago and more, and the memory of each worker in bytes."""

    ready: int
    overdue: int
    rss: dict[int, int]


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a scene. `broken` names what should have held and did not."""

    tasks: int
    states: dict[str, int]
    executions: int
    interrupted: int
    again: list[float]
    doubles: int
    latency: list[float]
    most_ready: int
    rss: tuple[int, int]
    broken: list[str]


def judge(
    tasks: Sequence[Task], notes: Sequence[Note], samples: Sequence[Sample], enqueued: int, killed: frozenset[int]
) -> Verdict:
    """The verdict on a scene.

    Args:
        tasks: all jobs there are.
        notes: the ledger, oldest first.
        samples: looks while it ran.
        enqueued: how many tasks the producers have enqueued, as they say.
        killed: the processes that were killed.
    """
    started: dict[int, list[Note]] = defaultdict(list)
    ended = {note.nonce for note in notes if note.phase != "started"}
    done: dict[int, list[Note]] = defaultdict(list)
    for note in notes:
        if note.phase == "started":
            started[note.task_id].append(note)
        elif note.phase == "completed":
            done[note.task_id].append(note)
    interrupted = [note for each in started.values() for note in each if note.nonce not in ended]
    again = [_until_next(note, started[note.task_id]) for note in interrupted]
    doubles = [each for each in done.values() if len(each) > 1]
    latency = [
        (task.finished_at - task.created_at).total_seconds()
        for task in tasks
        if task.state == "completed" and task.attempt == 1 and task.finished_at is not None
    ]
    rss = [sum(sample.rss.values()) // len(sample.rss) for sample in samples if sample.rss]
    rules = {
        f"every task has a job: {enqueued} were enqueued, {len(tasks)} are there": enqueued == len(tasks),
        "every task has ended": all(task.state in ("completed", "failed") for task in tasks),
        "no lease is overdue while it runs": not any(sample.overdue for sample in samples),
        "no task is charged more attempts than it has": all(task.charged <= 3 for task in tasks),
        "every completed task has run to its end": all(done[task.id] for task in tasks if task.state == "completed"),
        "what was killed has begun again": None not in again,
        f"it has begun again within {BOUND} s": all(each is None or each <= BOUND for each in again),
        "nobody is interrupted who was not killed": all(note.pid in killed for note in interrupted),
        "a task completes twice only where a kill came between": all(
            any(note.pid in killed for note in each[:-1]) for each in doubles
        ),
        "the doomed fail with all their attempts, and nobody else fails": all(
            (task.state, task.charged) == ("failed", 3) if task.name == "doomed" else task.state == "completed"
            for task in tasks
        ),
    }
    return Verdict(
        tasks=len(tasks),
        states=dict(Counter(task.state for task in tasks)),
        executions=sum(len(each) for each in started.values()),
        interrupted=len(interrupted),
        again=sorted(each for each in again if each is not None),
        doubles=len(doubles),
        latency=percentiles(latency),
        most_ready=max((sample.ready for sample in samples), default=0),
        rss=(rss[len(rss) // 4], rss[-1]) if rss else (0, 0),
        broken=[rule for rule, holds in rules.items() if not holds],
    )


def _until_next(note: Note, starts: Sequence[Note]) -> float | None:
    """Seconds from the start of an execution to that of the next one of its task; None where there is none."""
    later = [each.at for each in starts if each.at > note.at]
    return (min(later) - note.at).total_seconds() if later else None


def percentiles(values: Sequence[float]) -> list[float]:
    """p50, p95, p99 and the most."""
    if len(values) < 2:
        return [*values] * 4
    cut = quantiles(values, n=100, method="inclusive")
    return [cut[49], cut[94], cut[98], max(values)]
