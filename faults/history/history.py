"""A history, in the orders that the checker's rules ask for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import attrgetter
from typing import TypeAlias, TypeVar

import msgspec

from faults.history import records
from faults.history.records import HELD, Change, End, Entry, Forgotten

E = TypeVar("E", bound=records.Record)
Version: TypeAlias = Change | End | Forgotten
FAILOVER = "fail over"


class History:
    """Reads the records once; the views are made when first asked for."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._by_type: defaultdict[type, list[Entry]] = defaultdict(list)
        for entry in entries:
            self._by_type[type(entry)].append(entry)
        self._by_type[Change] = list(_without_reservations(self.of(Change)))

    def of(self, kind: type[E]) -> Sequence[E]:
        """All records of one type, as they came."""
        return self._by_type[kind]  # pyright: ignore[reportReturnType]  kept by type

    def one(self, kind: type[E]) -> E:
        """The only record of a type. Raises LookupError without one."""
        found = self.of(kind)
        if not found:
            raise LookupError(f"the history has no record {kind.__name__}: was the run cut short?")
        return found[-1]

    @cached_property
    def versions(self) -> dict[int, list[Version]]:
        """Of each job everything that was accepted about its row, in its true order."""
        found: defaultdict[int, list[Version]] = defaultdict(list)
        for kind in (Change, End, Forgotten):
            for entry in self.of(kind):
                found[entry.job].append(entry)
        for versions in found.values():
            versions.sort(key=attrgetter("n"))
        return found

    @cached_property
    def committed(self) -> list[Change]:
        """Changes of all jobs in the order of their commits."""
        return sorted(self.of(Change), key=lambda each: (each.committed, each.n))

    @cached_property
    def processes(self) -> dict[str, str]:
        """The process of each incarnation."""
        return {worker.incarnation: worker.process for worker in self.of(records.Worker)}

    @cached_property
    def workers(self) -> frozenset[str]:
        """The processes that are workers."""
        return frozenset(self.processes.values())

    @cached_property
    def ends(self) -> dict[int, End]:
        """How each job ended last, whether or not it was retried later."""
        return {end.job: end for end in sorted(self.of(End), key=attrgetter("n"))}

    def tail_of(self, chain: int) -> int:
        """The last link of a chain, as far as its links have ended."""
        job = chain
        while (end := self.ends.get(job)) is not None and end.next is not None:
            job = end.next
        return job

    @cached_property
    def edges(self) -> dict[int, list[records.Edge]]:
        """What was noted about what each job waits for."""
        found: defaultdict[int, list[records.Edge]] = defaultdict(list)
        for edge in sorted(self.of(records.Edge), key=attrgetter("n")):
            found[edge.job].append(edge)
        return found

    @cached_property
    def first_failover(self) -> float:
        """When the first failover began; never, where there was none."""
        began = [each.started for each in self.of(records.Fault) if each.name == FAILOVER]
        return min(began, default=float("inf"))

    @cached_property
    def adoptions(self) -> dict[int, list[Change]]:
        """Of each job the changes by which a process went on with its attempt under a new incarnation."""
        found: defaultdict[int, list[Change]] = defaultdict(list)
        for change in sorted(self.of(Change), key=attrgetter("n")):
            if self.is_adoption(change):
                found[change.job].append(change)
        return found

    def is_claim(self, change: Change) -> bool:
        """Whether the change gave the job to an owner."""
        is_new = change.old_state not in HELD or change.owner != change.old_owner
        return change.state in HELD and is_new and not self.is_adoption(change)

    def is_adoption(self, change: Change) -> bool:
        """Whether a process goes on with its attempt under a new incarnation. Only a failover allows that."""
        if change.old_owner is None or change.owner is None or change.owner == change.old_owner:
            return False
        process, former = self.processes.get(change.owner), self.processes.get(change.old_owner)
        goes_on = change.state in HELD and (change.state, change.attempt) == (change.old_state, change.old_attempt)
        return goes_on and process is not None and process == former and change.at >= self.first_failover

    def is_token(self, end: End) -> bool:
        """Whether what a handler says of itself is the attempt that the end is written to, perhaps in a former life."""
        owners = {end.owner}
        for change in reversed(self.adoptions.get(end.job, [])):
            if change.attempt == end.attempt and change.owner in owners:
                owners.add(change.old_owner)
        return end.said_attempt == end.attempt and end.said_owner in owners


def _without_reservations(changes: Iterable[Change]) -> Iterable[Change]:
    """A claim marks a suspect as taken before it takes it, in one transaction that nobody sees the middle of: one change."""
    reserved: dict[tuple[int, int], Change] = {}
    for change in sorted(changes, key=attrgetter("n")):
        mark = reserved.pop((change.xid, change.job), None)
        if mark is not None and change.attempt == mark.attempt + 1 and change.owner == mark.owner:
            before = {name: getattr(mark, name) for name in ("old_state", "old_attempt", "old_owner", "old_lease")}
            yield msgspec.structs.replace(change, **before)
        elif change.old_state == "pending" and change.state == "claimed" and change.attempt == change.old_attempt:
            reserved[change.xid, change.job] = change
        else:
            yield from (each for each in (mark, change) if each is not None)
    yield from reserved.values()


def process_of(by: str) -> str:
    """The process that a session belongs to; the session itself where that is not known."""
    return by.rpartition("@")[2]
