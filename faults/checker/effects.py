"""I7: what a handler writes in the transaction that completes its job is there exactly once, and only if it completed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from faults.checker.violation import Violation
from faults.history.history import History
from faults.history.records import Effect, End

PAYS = ("pay", "pay_atomic", "pay_in_thread", "pay_and_go_on")


def judge_effects(history: History) -> Iterator[Violation]:
    """Effects against the ends of their jobs."""
    effects: defaultdict[int, list[Effect]] = defaultdict(list)
    for effect in history.of(Effect):
        effects[effect.job].append(effect)
    ends: defaultdict[int, list[End]] = defaultdict(list)
    for end in history.of(End):
        is_own = end.said_attempt is not None or end.next is not None  # else a client completed it from outside
        if end.state == "completed" and end.kind in PAYS and is_own:
            ends[end.job].append(end)
    for job in effects.keys() | ends.keys():
        if len(effects[job]) != len(ends[job]):
            what = f"job {job} completed {len(ends[job])} times and has {len(effects[job])} effects"
            yield Violation("I7", what, [*effects[job], *ends[job]])
        for effect, end in zip(effects[job], ends[job], strict=False):
            if effect.xid != end.xid or effect.attempt != end.attempt:
                yield Violation("I7", f"job {job}: the effect and the completion are not one commit", [effect, end])
