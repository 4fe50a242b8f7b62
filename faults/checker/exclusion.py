"""I9, I15: at most one holder of a key, at most one unfinished job of a unique key, and no more than a limit allows."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter

import msgspec

from faults.checker.violation import Violation
from faults.history.history import History
from faults.history.records import HELD, Change, Limit

ROUNDING = 0.05  # tokens; a claim may start with a millionth less than a whole one


class Span(msgspec.Struct, frozen=True, gc=False):
    """From the change that began something to the one that ended it."""

    began: Change
    ended: Change | None


def judge_exclusion(history: History) -> Iterator[Violation]:
    """Intervals between commits, swept in their order."""
    yield from judge_keys(history)
    yield from judge_max_running(history)
    yield from judge_rates(history)


def held_spans(history: History) -> Iterator[Span]:
    """From each claim to the moment that the job was given up or ended."""
    return spans_of(history, history.is_claim, lambda each: each.state not in HELD)


def open_spans(history: History) -> Iterator[Span]:
    """From the making of each job (or its retry) to its end."""
    return spans_of(history, lambda each: each.old_state is None, lambda each: each.state is None)


def spans_of(history: History, begins: Callable[[Change], bool], ends: Callable[[Change], bool]) -> Iterator[Span]:
    """Of each job from a change that begins one to the next that ends it."""
    for versions in history.versions.values():
        began: Change | None = None
        for each in versions:
            if not isinstance(each, Change):
                continue
            if begins(each):
                began = each
            elif began is not None and ends(each):
                yield Span(began, each)
                began = None
        if began is not None:
            yield Span(began, None)


def overlaps(spans: Iterable[Span], most: int) -> Iterator[Sequence[Change]]:
    """Moments at which more than `most` of these spans are open."""
    events: list[tuple[float, int, bool, Change]] = []
    for span in spans:
        if span.ended is not None and span.ended.xid == span.began.xid:
            continue
        events.append((span.began.committed, span.began.n, True, span.began))
        if span.ended is not None:
            events.append((span.ended.committed, span.ended.n, False, span.began))
    running: dict[int, Change] = {}
    for _, _, is_begin, began in sorted(events, key=lambda event: event[:2]):
        if not is_begin:
            running.pop(began.n, None)
            continue
        running[began.n] = began
        if len(running) > most:
            yield sorted(running.values(), key=attrgetter("n"))


def judge_keys(history: History) -> Iterator[Violation]:
    """I9: one holder of a key at a time, and one unfinished job of a unique key."""
    for key, holders in shared(held_spans(history), lambda change: change.key):
        yield Violation("I9", f"{len(holders)} jobs of the key {key!r} are held at once", holders)
    for key, jobs in shared(open_spans(history), lambda change: change.unique):
        yield Violation("I9", f"{len(jobs)} unfinished jobs have the unique key {key!r}", jobs)


def shared(spans: Iterable[Span], key_of: Callable[[Change], str | None]) -> Iterator[tuple[str, Sequence[Change]]]:
    """Keys that more than one of these spans has at once, and those that have it."""
    by_key: defaultdict[str, list[Span]] = defaultdict(list)
    for span in spans:
        if (key := key_of(span.began)) is not None:
            by_key[key].append(span)
    for key, mine in by_key.items():
        yield from ((key, holders) for holders in overlaps(mine, 1))


def limits_of(history: History) -> dict[tuple[str, str], Limit]:
    """Limits that were set once and never changed; others are not judged."""
    found: dict[tuple[str, str], Limit] = {}
    changed: set[tuple[str, str]] = set()
    for limit in history.of(Limit):
        place = (limit.queue, limit.group)
        before = found.setdefault(place, limit)
        if (before.max_running, before.rate, before.burst) != (limit.max_running, limit.rate, limit.burst):
            changed.add(place)
    return {place: limit for place, limit in found.items() if place not in changed}


def governed(history: History, limit: Limit, spans: Iterable[Span]) -> list[list[Span]]:
    """The spans that a limit counts, together or for each group; only those that began under it."""
    mine = [span for span in spans if span.began.queue == limit.queue and span.began.n > limit.n]
    if limit.group == "":
        return [mine]
    named = {place[1] for place in limits_of(history) if place[0] == limit.queue}
    groups: defaultdict[str, list[Span]] = defaultdict(list)
    for span in mine:
        group = span.began.group
        if group is not None and (group == limit.group or (limit.group == "*" and group not in named)):
            groups[group].append(span)
    return list(groups.values())


def judge_max_running(history: History) -> Iterator[Violation]:
    """I15: never more held jobs than a limit allows."""
    spans = list(held_spans(history)) if history.of(Limit) else []
    for limit in limits_of(history).values():
        if limit.max_running is None:
            continue
        for counted in governed(history, limit, spans):
            for held in overlaps(counted, limit.max_running):
                what = f"{len(held)} jobs of {limit.queue!r} are held at once, {limit.max_running} are allowed"
                yield Violation("I15", what, [limit, *held])


def judge_rates(history: History) -> Iterator[Violation]:
    """I15: in no span of t seconds more than burst + rate * t starts. A job that was handed back has not started."""
    spans = [span for span in held_spans(history) if span.ended is None or span.ended.spared == span.began.spared]
    for limit in limits_of(history).values():
        if limit.rate is None or limit.burst is None:
            continue
        for counted in governed(history, limit, spans):
            yield from judge_bucket(limit, limit.rate, limit.burst, [span.began for span in counted])


def judge_bucket(limit: Limit, rate: float, burst: int, starts: Sequence[Change]) -> Iterator[Violation]:
    """A bucket that is filled as fast as the limit allows must never run dry."""
    tokens, filled, recent = float(burst), 0.0, deque[Change](maxlen=burst + 3)
    for start in sorted(starts, key=lambda each: (each.claimed_at or each.at, each.n)):
        at = start.claimed_at or start.at
        tokens = min(burst, tokens + max(0.0, at - filled) * rate) - 1
        filled = at
        recent.append(start)
        if tokens < -ROUNDING:
            yield Violation("I15", f"{limit.queue!r} starts faster than {rate:g}/s with a burst of {burst}", [*recent])
            tokens = 0.0
