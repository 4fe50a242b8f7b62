"""I10, I12, I13: what has to come before what: blockers before the blocked, links of a chain one after the other, attempts."""

from __future__ import annotations

from collections.abc import Iterator

from faults.checker.violation import Violation
from faults.history.history import History
from faults.history.records import Change, Edge, End

CLOCKS = 0.001  # seconds: times are kept to the microsecond


def judge_order(history: History) -> Iterator[Violation]:
    """Chains, then attempts."""
    yield from judge_links(history)
    yield from judge_edges(history)
    for versions in history.versions.values():
        for each in versions:
            if isinstance(each, Change) and history.is_claim(each):
                yield from judge_claim(each)


def judge_links(history: History) -> Iterator[Violation]:
    """I10: a link is made by the commit that completes the one before, and only one link of a chain is open."""
    open_link: dict[int, Change] = {}
    following = {end.next: end for end in history.of(End) if end.next is not None}
    for end in following.values():
        made = history.versions.get(end.next or 0, [None])[0]
        if not isinstance(made, Change):
            yield Violation("I10", f"job {end.job} was continued by job {end.next}, which never existed", [end])
        elif made.xid != end.xid:
            yield Violation(
                "I10", f"job {end.next} was not made by the commit that completed job {end.job}", [end, made]
            )
        elif end.state != "completed":
            yield Violation("I10", f"job {end.job} {end.state} and was continued all the same", [end, made])
    for each in history.committed:
        if each.old_state is None and each.chain != each.job:
            if each.job not in following:
                yield Violation("I10", f"job {each.job} continues chain {each.chain} after nothing", [each])
            before = open_link.get(each.chain)
            if before is not None and before.job != each.job:
                yield Violation("I10", f"chain {each.chain} has two open jobs", [before, each])
            open_link[each.chain] = each
        elif each.state is None and (link := open_link.get(each.chain)) is not None and link.job == each.job:
            del open_link[each.chain]


def judge_edges(history: History) -> Iterator[Violation]:
    """I10: nobody claims a job that waits for a chain; an edge is closed only when its chain has ended as it should."""
    for job, edges in history.edges.items():
        closed_at: dict[int, Edge] = {}
        opened: dict[int, Edge] = {}
        for edge in edges:
            (closed_at if edge.closed else opened).setdefault(edge.slot, edge)
        for edge in closed_at.values():
            yield from judge_closing(history, edge)
        for change in history.versions.get(job, []):
            if isinstance(change, Change) and history.is_claim(change):
                for slot, edge in opened.items():
                    closing = closed_at.get(slot)
                    if edge.n < change.n and (closing is None or closing.n > change.n):
                        yield Violation(
                            "I10", f"job {job} was claimed before chain {edge.chain} let it", [edge, change]
                        )


def judge_closing(history: History, edge: Edge) -> Iterator[Violation]:
    """There has to be an end of the chain that is not later."""
    suits = ("completed", "failed", "cancelled") if edge.any_end else ("completed",)
    ended = [
        each
        for each in history.versions.get(history.tail_of(edge.chain), [])
        if isinstance(each, End) and each.state in suits and (each.committed <= edge.committed or each.xid == edge.xid)
    ]
    if not ended:
        yield Violation("I10", f"job {edge.job} was let go by chain {edge.chain}, which has not ended", [edge])


def judge_claim(claim: Change) -> Iterator[Violation]:
    """I12: no attempt too many. I13: none before its time."""
    if claim.attempt - claim.spared > claim.max_attempts:
        count = claim.attempt - claim.spared
        yield Violation("I12", f"job {claim.job} began attempt {count} of {claim.max_attempts}", [claim])
    if claim.run_at > claim.at + CLOCKS:
        early = claim.run_at - claim.at
        yield Violation("I13", f"job {claim.job} was claimed {early:.3f} s before its time", [claim])
