"""I3 to I6: who may change a job. A job is one register; its versions are in their true order."""

from __future__ import annotations

from collections.abc import Iterator

from faults.checker.violation import Violation
from faults.history.history import History, process_of
from faults.history.records import HELD, Change, End, Forgotten

# From each state to each other. None is: not in the table (not made yet, or finished).
ALLOWED: dict[str | None, set[str | None]] = {
    None: {"pending", "scheduled", "waiting", "blocked"},
    "pending": {"pending", "claimed", "waiting", "scheduled", "blocked", None},
    "scheduled": {"scheduled", "pending", "waiting", "blocked", None},
    "waiting": {"waiting", "pending", "scheduled", "blocked", None},
    "blocked": {"blocked", "pending", "waiting", "scheduled", None},
    "claimed": {"claimed", "running", "pending", "waiting", "scheduled", "blocked", None},
    "running": {"running", "pending", "waiting", "scheduled", "blocked", None},
}
REAPED = ("LeaseExpired", "Quarantined")


def judge_fencing(history: History) -> Iterator[Violation]:
    """Each job for itself."""
    for job in history.versions:
        yield from judge_attempts(history, job)
        yield from judge_states(history, job)
        yield from judge_writers(history, job)
        yield from judge_ends(history, job)
    yield from judge_former_lives(history)


def judge_attempts(history: History, job: int) -> Iterator[Violation]:
    """I3: attempts strictly increase, one at each claim, and never otherwise."""
    highest, granted = 0, None
    for each in history.versions[job]:
        if not isinstance(each, Change) or each.state is None or each.old_state is None:
            continue
        is_claim = history.is_claim(each)
        if each.attempt != each.old_attempt + is_claim:
            what = f"job {job}: attempt {each.old_attempt} became {each.attempt} from {each.old_state} to {each.state}"
            yield Violation("I3", what, [each])
        if is_claim and each.attempt <= highest and granted is not None:
            yield Violation("I3", f"job {job}: attempt {each.attempt} was given twice", [granted, each])
        if is_claim:
            highest, granted = max(highest, each.attempt), each


def judge_states(history: History, job: int) -> Iterator[Violation]:
    """I4, I6: only steps that exist; nothing after the end but a retry; no owner takes a job that another one holds."""
    last: Change | End | None = None
    state: str | None = None
    is_finished = False
    retried = {each.xid for each in history.versions[job] if isinstance(each, Forgotten)}
    for each in history.versions[job]:
        if isinstance(each, End):
            if is_finished and last is not None:
                yield Violation("I6", f"job {job} ended twice", [last, each])
            is_finished, last = True, each
        elif isinstance(each, Change):
            if each.old_state != state and last is not None:
                yield Violation("I6", f"job {job} was {state} and goes on as {each.old_state}", [last, each])
            if each.state not in ALLOWED[each.old_state]:
                yield Violation("I6", f"job {job} went from {each.old_state} to {each.state}", [each])
            if _changes_hands(each) and not history.is_adoption(each):
                yield Violation("I4", f"job {job} changed its owner without being given up", [each])
            if each.old_state is None and is_finished and last is not None and each.xid not in retried:
                yield Violation("I6", f"job {job} was made again after its end", [last, each])
            is_finished = is_finished and each.old_state is not None
            state, last = each.state, each


def judge_writers(history: History, job: int) -> Iterator[Violation]:
    """I5: a renewal comes from the owner's process; a job is given up by its owner, or taken when its lease has run out.

    Instead of taking its last attempt from a worker that may only have been stopped, a reaper gives it one lease more.
    """
    for each in history.versions[job]:
        if not isinstance(each, Change) or each.old_owner is None or each.state is None:
            continue
        if writes_as_owner(history, each.by, each.old_owner):
            continue
        if (
            each.state in HELD
            and (each.lease != each.old_lease or each.state != each.old_state)
            and not _is_reprieve(each)
        ):
            yield Violation("I5", f"job {job}: {each.by!r} renewed a lease that another process holds", [each])
        if each.state not in HELD and each.old_lease is not None and each.old_lease > each.at:
            early = each.old_lease - each.at
            yield Violation("I5", f"job {job} was taken from its owner {early:.3f} s before its lease ran out", [each])


def _is_reprieve(each: Change) -> bool:
    has_run_out = each.old_lease is not None and each.old_lease <= each.at
    return has_run_out and each.state == each.old_state


def judge_ends(history: History, job: int) -> Iterator[Violation]:
    """I5, I6: who ends a job holds it; what a handler says of itself is the attempt that the end is written to."""
    held: Change | None = None
    for each in history.versions[job]:
        if isinstance(each, Change):
            held = each if each.state in HELD else held
        if not isinstance(each, End):
            continue
        if each.said_attempt is not None and not history.is_token(each):
            what = f"attempt {each.said_attempt} of {each.said_owner} completed attempt {each.attempt} of {each.owner}"
            yield Violation("I5", f"job {job}: {what}", [held, each] if held else [each])
        if each.owner is None or held is None or held.owner != each.owner:
            continue
        if writes_as_owner(history, each.by, each.owner) or each.error == "DeadlineExceeded":
            continue
        if each.error in REAPED:
            if held.lease is not None and held.lease > each.at:
                yield Violation("I5", f"job {job} was failed before its lease had run out", [held, each])
        elif process_of(each.by) in history.workers:
            yield Violation("I5", f"job {job} was ended by {each.by!r}, which does not hold it", [held, each])


def judge_former_lives(history: History) -> Iterator[Violation]:
    """I3: an incarnation whose jobs a later one of its process has taken over claims nothing any more."""
    over: dict[str | None, Change] = {}
    for each in sorted(history.of(Change), key=lambda change: change.n):
        if history.is_adoption(each):
            over.setdefault(each.old_owner, each)
        elif history.is_claim(each) and each.owner in over:
            yield Violation("I3", f"job {each.job}: a former life of a worker claimed it", [over[each.owner], each])


def _changes_hands(change: Change) -> bool:
    return change.old_state in HELD and change.state in HELD and change.owner != change.old_owner


def writes_as_owner(history: History, by: str, owner: str) -> bool:
    """Whether a session belongs to the process of an incarnation, as far as that is known."""
    process = history.processes.get(owner)
    return process is None or process_of(by) == process
