"""I2, I17: what clients were promised: idempotency keys, pauses, cancellations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from faults.checker.violation import Violation
from faults.history.history import History
from faults.history.records import Call, Change, End


def judge_calls(history: History) -> Iterator[Violation]:
    """Calls against what was accepted later."""
    yield from judge_idempotency(history)
    yield from judge_pauses(history)
    yield from judge_cancels(history)


def judge_idempotency(history: History) -> Iterator[Violation]:
    """I2: all calls with one idempotency key got the same job. Such calls carry the key as their subject."""
    answers: defaultdict[str, dict[int, Call]] = defaultdict(dict)
    for call in history.of(Call):
        if call.subject is not None and call.subject.startswith("idempotent ") and call.outcome == "ok":
            for job in call.ids:
                answers[call.subject].setdefault(job, call)
    for subject, calls in answers.items():
        if len(calls) > 1:
            yield Violation("I2", f"{subject!r} gave {len(calls)} different jobs", list(calls.values()))


def judge_pauses(history: History) -> Iterator[Violation]:
    """I17: from the answer to a pause to the next call that resumes the queue no claim of it is committed."""
    claims: defaultdict[str, list[Change]] = defaultdict(list)
    for change in history.committed:
        if history.is_claim(change):
            claims[change.queue].append(change)
    switches: defaultdict[str, list[Call]] = defaultdict(list)
    for call in history.of(Call):
        if call.operation in ("pause", "resume") and call.subject is not None:
            switches[call.subject].append(call)
    for queue, calls in switches.items():
        calls.sort(key=lambda call: call.started)
        for place, call in enumerate(calls):
            if call.operation != "pause" or call.outcome != "ok":
                continue
            until = min((each.started for each in calls[place + 1 :] if each.operation == "resume"), default=None)
            late = [
                claim
                for claim in claims[queue]
                if claim.committed > call.ended and (until is None or claim.committed < until)
            ]
            if late:
                yield Violation(
                    "I17", f"{len(late)} claims of {queue!r} were committed after it was paused", [call, *late]
                )


def judge_cancels(history: History) -> Iterator[Violation]:
    """I17: a job that was cancelled does not complete, unless somebody retries it."""
    for call in history.of(Call):
        if call.operation != "cancel" or call.outcome != "ok":
            continue
        for job in call.ids:
            versions = history.versions.get(job, [])
            cancelled = [each for each in versions if isinstance(each, End) and each.state == "cancelled"]
            if not cancelled:
                yield Violation(
                    "I17", f"job {job} was cancelled, says the answer, and has no such end", [call, *versions[-2:]]
                )
