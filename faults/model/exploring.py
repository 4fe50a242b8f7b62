"""All states that a protocol can reach, breadth first, so that a way to a broken one is a shortest one."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from faults.model.protocol import Protocol, steps
from faults.model.state import ENDED, State, first_state


class Size(NamedTuple):
    """How much is explored."""

    workers: int = 2
    jobs: int = 2
    faults: int = 2


class Explored(NamedTuple):
    """What was found. `broken` is the invariant, `way` the steps that lead there; `stuck` are states with no way to an end."""

    states: int
    transitions: int
    broken: str | None
    way: Sequence[str]
    stuck: int


def explore(protocol: Protocol, size: Size) -> Explored:
    """Visit everything, or stop at the first broken state."""
    first = first_state(*size)
    came: dict[State, tuple[State, str] | None] = {first: None}
    before: dict[State, list[State]] = {}
    queue, transitions = deque([first]), 0
    while queue:
        state = queue.popleft()
        for label, following in steps(state, protocol):
            after = canonical(following)
            transitions += 1
            if after not in came:
                came[after] = (state, label)
                queue.append(after)
                if (found := broken(after)) is not None:
                    return Explored(len(came), transitions, found, way_to(after, came), 0)
            before.setdefault(after, []).append(state)
    return Explored(len(came), transitions, None, (), count_stuck(came, before))


def broken(state: State) -> str | None:
    """The invariant that does not hold here: those that a step breaks, and I14, which two handlers do together."""
    if state.broken is not None:
        return state.broken
    for job in range(len(state.rows)):
        trusting = [
            worker
            for worker in state.workers
            if worker.status == "up" and (handler := worker.handlers[job]) is not None and handler.trusts
        ]
        is_current = all(worker.timeline == state.timeline for worker in trusting)
        if len(trusting) > 1 and is_current:
            return "I14: two workers that can look at their clocks run one job"
    return None


def canonical(state: State) -> State:
    """Jobs have no names: of all states that differ in their order alone, one. With one job it is the state itself."""
    order = sorted(range(len(state.rows)), key=lambda job: column(state, job))
    if order == [*range(len(order))]:
        return state
    standby = None if state.standby is None else tuple(state.standby[job] for job in order)
    workers = tuple(
        worker._replace(
            handlers=tuple(worker.handlers[job] for job in order), old=tuple(worker.old[job] for job in order)
        )
        for worker in state.workers
    )
    looked = frozenset(place for place, job in enumerate(order) if job in state.looked)
    rows = tuple(state.rows[job] for job in order)
    return state._replace(rows=rows, workers=workers, standby=standby, looked=looked)


def column(state: State, job: int) -> tuple[object, ...]:
    """All that is known of one job, in an order that can be compared."""
    handlers = [each or () for worker in state.workers for each in (worker.handlers[job], worker.old[job])]
    standby = () if state.standby is None else state.standby[job]
    return (state.rows[job], standby, job in state.looked, *handlers)


def way_to(state: State, came: dict[State, tuple[State, str] | None]) -> list[str]:
    """The steps from the first state."""
    way: list[str] = []
    while (link := came[state]) is not None:
        state, label = link
        way.append(label)
    return way[::-1]


def count_stuck(came: dict[State, tuple[State, str] | None], before: dict[State, list[State]]) -> int:
    """States from which no way leads to the end of all jobs: there a job would be lost."""
    good = {state for state in came if all(row.state in ENDED for row in state.rows)}
    queue = deque(good)
    while queue:
        for earlier in before.get(queue.popleft(), ()):
            if earlier not in good:
                good.add(earlier)
                queue.append(earlier)
    return len(came) - len(good)
