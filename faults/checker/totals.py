"""I1, I2, I8: every acknowledged job ends exactly once or is alive; no job comes from nowhere; nothing gets stuck."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from faults.checker.violation import Violation
from faults.history.history import History
from faults.history.records import Call, Change, Edge, End, Left, Over

MAKES_JOBS = ("enqueue", "enqueue_many", "http_enqueue", "transaction", "rolled_back")


def judge_totals(history: History) -> Iterator[Violation]:
    """Clients' calls against the jobs that there are."""
    yield from judge_tags(history)
    yield from judge_ids(history)
    yield from judge_left(history)
    yield from judge_table(history)


def made_by_tag(history: History) -> Mapping[int, list[Change]]:
    """The first version of each job by the tag that its client gave it."""
    made: defaultdict[int, list[Change]] = defaultdict(list)
    for versions in history.versions.values():
        first = versions[0]
        if isinstance(first, Change) and first.old_state is None and first.tag_ is not None:
            made[first.tag_].append(first)
    return made


def judge_tags(history: History) -> Iterator[Violation]:
    """I1 for what was acknowledged, I2 for what was refused or rolled back and for what nobody knows."""
    made = made_by_tag(history)
    called: set[int] = set()
    for call in history.of(Call):
        if call.operation not in MAKES_JOBS:
            continue
        for tag in call.tags:
            called.add(tag)
            jobs = made.get(tag, [])
            if len(jobs) > 1:
                yield Violation("I2", f"the job with tag {tag} was made {len(jobs)} times", [call, *jobs])
            if jobs and (call.outcome == "fail" or call.operation == "rolled_back"):
                yield Violation("I2", f"tag {tag}: a job was made by a call that failed", [call, *jobs])
    for tag, jobs in made.items():
        if tag not in called:
            yield Violation("I2", f"nobody asked for the job with tag {tag}", jobs)


def judge_ids(history: History) -> Iterator[Violation]:
    """I1: each id that a client was given is a job that began, and that has ended or is there."""
    left = {each.job for each in history.of(Left)}
    reported: set[int] = set()
    for call in history.of(Call):
        if call.operation not in MAKES_JOBS or call.outcome != "ok":
            continue
        for job in call.ids:
            versions = history.versions.get(job)
            if versions is None:
                yield Violation("I1", f"job {job} was acknowledged and never existed", [call])
            elif job not in left and not isinstance(versions[-1], End) and job not in reported:
                reported.add(job)
                yield Violation("I1", f"job {job} was acknowledged and is gone", [call, *versions[-3:]])


def judge_left(history: History) -> Iterator[Violation]:
    """I8, I16: what is left after the drain has a reason to wait."""
    over = history.one(Over)
    for left in history.of(Left):
        if left.state == "scheduled" and left.run_at > over.healed:
            continue
        if left.state == "blocked":
            waits = open_edges(history, left.job)
            if waits and not any(is_complete(history, edge) for edge in waits):
                continue
            what = f"job {left.job} is blocked although nothing blocks it any more"
            yield Violation("I8", what, [*history.edges.get(left.job, [])[-4:], left])
            continue
        seconds = over.at - over.healed
        what = f"job {left.job} is still {left.state}, {seconds:.0f} s after the last fault and the last enqueue"
        yield Violation("I16", what, [*history.versions.get(left.job, [])[-4:], left])


def open_edges(history: History, job: int) -> list[Edge]:
    """Those that are still open."""
    latest = {edge.slot: edge for edge in history.edges.get(job, [])}
    return [edge for edge in latest.values() if not edge.closed]


def is_complete(history: History, edge: Edge) -> bool:
    """Whether the chain has ended in a way that ends the wait."""
    job = history.tail_of(edge.chain)
    end = history.ends.get(job)
    if end is None or history.versions[job][-1] != end:
        return False
    return end.state == "completed" or edge.any_end


def judge_table(history: History) -> Iterator[Violation]:
    """I8: the versions lead to the table as it is. Else something changed a row unseen, and no other rule can be trusted."""
    left = {each.job: each for each in history.of(Left)}
    for job, versions in history.versions.items():
        last = next((each for each in reversed(versions) if isinstance(each, Change)), None)
        expected = last.state if last else None
        found = left.get(job)
        if expected != (found.state if found else None):
            what = f"job {job} should be {expected} and is {found.state if found else 'gone'}"
            yield Violation("I8", what, [*versions[-3:], *([found] if found else [])])
        if expected is None and not isinstance(versions[-1], End):
            yield Violation("I1", f"job {job} is gone and has no end", versions[-3:])
