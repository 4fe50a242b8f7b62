"""I11: each tick of a schedule makes its jobs once, and not before its time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from faults.checker.violation import Violation
from faults.history.history import History
from faults.history.records import Change, Tick


def judge_ticks(history: History) -> Iterator[Violation]:
    """The ticks that were written down, and the jobs that name them."""
    ticks: defaultdict[tuple[str, float], list[Tick]] = defaultdict(list)
    by_schedule: defaultdict[str, list[Tick]] = defaultdict(list)
    for tick in history.of(Tick):
        if tick.origin == "timer":
            ticks[tick.schedule, tick.tick_at].append(tick)
            by_schedule[tick.schedule].append(tick)
    for (schedule, at), fired in ticks.items():
        if len(fired) > 1:
            yield Violation("I11", f"the tick of {schedule!r} at {at:.3f} was fired {len(fired)} times", fired)
        if fired[0].tick_at > fired[0].at:
            yield Violation("I11", f"a tick of {schedule!r} was fired before its time", fired)
    for schedule, fired in by_schedule.items():
        yield from judge_rhythm(schedule, sorted(fired, key=lambda each: each.tick_at))
    yield from judge_jobs(history)


def judge_rhythm(schedule: str, fired: list[Tick]) -> Iterator[Violation]:
    """A schedule that catches up leaves no tick out."""
    for before, after in pairwise(fired):
        if before.every is None or before.missed != "catch_up":
            continue
        gap = round((after.tick_at - before.tick_at) / before.every)
        if gap > 1:
            yield Violation("I11", f"{schedule!r} catches up and has left out {gap - 1} ticks", [before, after])


def judge_jobs(history: History) -> Iterator[Violation]:
    """The jobs that name a tick are those that it has made, in its own commit."""
    made: defaultdict[tuple[str, str], list[Change]] = defaultdict(list)
    for versions in history.versions.values():
        first = versions[0]
        if isinstance(first, Change) and first.schedule is not None and first.tick is not None:
            made[first.schedule, first.tick].append(first)
    owed = {job: tick for tick in history.of(Tick) for job in tick.job_ids}
    for (schedule, at), jobs in made.items():
        strangers = [job for job in jobs if job.job not in owed or owed[job.job].xid != job.xid]
        if strangers:
            yield Violation("I11", f"the tick of {schedule!r} at {at} has more jobs than it made", [*jobs])
    for job, tick in owed.items():
        if job not in history.versions:
            yield Violation("I11", f"a tick of {tick.schedule!r} made job {job}, which does not exist", [tick])
