"""How long until work went on after each fault: read from a history, nothing else."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import median
from typing import NamedTuple

from faults.checker.exclusion import Span, held_spans
from faults.checker.judge import judge
from faults.history.history import History
from faults.history.records import Begin, Fault, Over
from faults.schedule.kinds import ALWAYS, ELSEWHERE, KINDS, NOT_POSSIBLE

HEAD = "| fault | | count | a job went through: median, longest | its own jobs went on: median, longest |"


class Recovery(NamedTuple):
    """Seconds from the beginning of a fault: `anybody` until a job that was claimed since has ended; `own` until every job that
    its process held then had ended or was claimed by another one. None: there was no such job."""

    anybody: float | None
    own: float | None


def recoveries(history: History) -> dict[str, list[Recovery]]:
    """Of each kind of fault, in their order."""
    spans = sorted(held_spans(history), key=lambda span: span.began.committed)
    begins = [span.began.committed for span in spans]
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for incarnation, process in history.processes.items():
        owners[process].add(incarnation)
    by_owner: defaultdict[str | None, list[Span]] = defaultdict(list)
    for span in spans:
        by_owner[span.began.owner].append(span)
    found: defaultdict[str, list[Recovery]] = defaultdict(list)
    for fault in history.of(Fault):
        mine = [span for target in fault.targets for owner in owners[target] for span in by_owner[owner]]
        found[fault.name].append(Recovery(until_any(spans, begins, fault), until_own(history, mine, fault)))
    return found


def until_any(spans: Sequence[Span], begins: Sequence[float], fault: Fault) -> float | None:
    """The first end of a job among those claimed since."""
    later = spans[bisect_left(begins, fault.started) :][:2000]
    ends = [span.ended.committed for span in later if span.ended is not None]
    return min(ends) - fault.started if ends else None


def until_own(history: History, spans: Sequence[Span], fault: Fault) -> float | None:
    """The last of these jobs among those that were held when the fault began."""
    longest: float | None = None
    for span in spans:
        if span.began.committed > fault.started or span.ended is None or span.ended.committed < fault.started:
            continue
        if (went_on := goes_on(history, span)) is not None:
            longest = max(longest or 0.0, went_on - fault.started)
    return longest


def goes_on(history: History, span: Span) -> float | None:
    """When the job ended, or was claimed again."""
    ended = span.ended
    assert ended is not None
    if ended.state is None:
        return ended.committed
    versions = history.versions[span.began.job]
    return next(
        (each.committed for each in versions if each.n > ended.n and getattr(each, "state", "") == "claimed"), None
    )


def table(histories: Sequence[History]) -> str:
    """Markdown: the runs, then a row for each kind of fault."""
    lines = [
        "| date | seed | jobs | faults | kinds | minutes | violations | run again |",
        "|---|---|---|---|---|---|---|---|",
    ]
    found: defaultdict[str, list[Recovery]] = defaultdict(list)
    for history in histories:
        begin, over, faults = history.one(Begin), history.one(Over), history.of(Fault)
        minutes = (over.at - begin.at) / 60
        kinds = len({fault.name for fault in faults})
        date = datetime.fromtimestamp(begin.at, UTC).date()
        broken = len(judge(history))
        cells = (
            date,
            begin.seed,
            f"{len(history.versions):,}",
            len(faults),
            kinds,
            f"{minutes:.1f}",
            broken,
            f"`{begin.command}`",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
        for name, each in recoveries(history).items():
            found[name] += each
    lines += ["", HEAD, "|---|---|---|---|---|"]
    for name, kind in KINDS.items():
        if name in found:
            anybody = spread([each.anybody for each in found[name]])
            own = spread([each.own for each in found[name]])
            lines.append(f"| {name}: {kind.what} | {kind.number} | {len(found[name])} | {anybody} | {own} |")
    lines += ["", "| fault of the matrix | |", "|---|---|"]
    for title, group in (("always", ALWAYS), ("elsewhere", ELSEWHERE), ("not possible", NOT_POSSIBLE)):
        lines += [f"| {number} | {title}: {why} |" for number, why in group.items()]
    return "\n".join(lines)


def spread(seconds: Sequence[float | None]) -> str:
    """Median and longest, or nothing."""
    known = [each for each in seconds if each is not None]
    return f"{median(known):.1f} s, {max(known):.1f} s" if known else ""
