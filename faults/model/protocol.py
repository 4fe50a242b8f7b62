"""Rows, workers and handlers, and each step that one of them may take.

Time is left out: a lease may run out whenever nothing forbids it. What forbids it is the trust window: a worker that can look
at its clock has cancelled its handler before. So the model covers every length of lease, and every delay.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from faults.model.state import (
    HELD,
    Handler,
    Row,
    State,
    Worker,
    empty_worker,
    forget_validity,
    put_handler,
    put_row,
    put_worker,
    swap,
)


class Protocol(NamedTuple):
    """Which guards there are. All of them together are leasehold's protocol; a variant lacks one."""

    guards_renewals: bool = True
    compares_attempts: bool = True
    compares_incarnations: bool = True
    counts_at_the_claim: bool = True
    reaper_looks_again: bool = True
    heeds_timelines: bool = True
    has_trust_window: bool = True
    has_fresh_incarnations: bool = True
    keeps_attempts: bool = True
    reaps: bool = True


Step: TypeAlias = tuple[str, State]
MOST_ATTEMPTS = 3
COMPLETED_BY_A_STRANGER = "I5: a former owner has completed the attempt of another one"


def steps(state: State, protocol: Protocol) -> Iterator[Step]:
    """Every step that anybody may take now. A broken state has none: the way there is what matters."""
    if state.broken is not None:
        return
    for number, worker in enumerate(state.workers):
        yield from worker_steps(state, protocol, number, worker)
    for job, row in enumerate(state.rows):
        yield from row_steps(state, protocol, job, row)
    yield from fault_steps(state)


def worker_steps(state: State, protocol: Protocol, number: int, worker: Worker) -> Iterator[Step]:
    """What one process may do."""
    if worker.status == "dead":
        fresh = worker.incarnation + 1 if protocol.has_fresh_incarnations else worker.incarnation
        started = empty_worker(fresh, state.timeline, len(state.rows))
        yield f"w{number} starts", put_worker(state, number, started)
        return
    if worker.status == "stopped":
        yield f"w{number} wakes up", put_worker(state, number, worker._replace(status="up"))
        return
    if not state.is_away and worker.timeline != state.timeline and protocol.heeds_timelines:
        nothing = empty_worker(worker.incarnation + 1, state.timeline, len(state.rows))
        yield f"w{number} sees another timeline", put_worker(state, number, nothing)
        return
    for job in range(len(state.rows)):
        yield from handler_steps(state, protocol, number, job)


def handler_steps(state: State, protocol: Protocol, number: int, job: int) -> Iterator[Step]:
    """What a process may do about one job."""
    worker, row = state.workers[number], state.rows[job]
    handler = worker.handlers[job]
    if not state.is_away and (old := worker.old[job]) is not None:
        yield from report_steps(state, protocol, number, job, old)
    if not state.is_away and worker.old[job] is None:
        yield from claim_steps(state, protocol, number, job)
    if handler is None:
        is_mine = (row.owner, row.incarnation) == (number, worker.incarnation)
        if not state.is_away and row.state in HELD and is_mine:
            yield f"w{number} hands j{job} back, which it does not know", give_up(state, protocol, job)
        return
    if protocol.has_trust_window or handler.trusts is False:
        yield f"w{number} no longer trusts its lease on j{job}", put_handler(state, number, job, None)
    if not state.is_away:
        yield from renew_steps(state, protocol, number, job, handler)
        yield from settle_steps(state, protocol, number, job, handler)


def claim_steps(state: State, protocol: Protocol, number: int, job: int) -> Iterator[Step]:
    """A claim, whose answer arrives or gets lost."""
    row, worker = state.rows[job], state.workers[number]
    if row.state != "pending":
        return
    attempt = row.attempt + 1 if protocol.counts_at_the_claim or row.attempt == 0 else row.attempt
    taken = Row("held", attempt, number, worker.incarnation)
    after = put_row(forget_validity(state, job), job, taken)
    had = worker.handlers[job]
    if had is not None:
        after = put_worker(
            after, number, after.workers[number]._replace(old=swap(worker.old, job, had._replace(valid=False)))
        )
    if had is not None and (had.attempt, had.incarnation) == (attempt, worker.incarnation):
        after = after._replace(broken="I3: a token was given out that a handler has already")
    yield f"w{number} claims j{job}", put_handler(after, number, job, Handler(attempt, worker.incarnation))
    if state.faults:
        yield f"w{number} claims j{job}, and the answer is lost", after._replace(faults=state.faults - 1)


def report_steps(state: State, protocol: Protocol, number: int, job: int, old: Handler) -> Iterator[Step]:
    """A handler that was overtaken by a claim of its own worker ends at last."""
    row, worker = state.rows[job], state.workers[number]
    gone = put_worker(state, number, worker._replace(old=swap(worker.old, job, None)))
    if row.state in HELD and fits(protocol, row, number, old):
        after = put_row(gone, job, Row("completed", row.attempt))
        yield f"an old handler of w{number} completes j{job}", after._replace(broken=COMPLETED_BY_A_STRANGER)
    else:
        yield f"an old handler of w{number} is refused the completion of j{job}", gone


def renew_steps(state: State, protocol: Protocol, number: int, job: int, handler: Handler) -> Iterator[Step]:
    """A renewal: accepted where the token is the row's, else the handler is cancelled."""
    row = state.rows[job]
    if row.state in HELD and (fits(protocol, row, number, handler) or not protocol.guards_renewals):
        after = put_row(state, job, row._replace(state="held"))
        if not handler.valid:
            after = after._replace(broken="I5: a former owner has renewed the lease of another one")
        trusting = handler._replace(trusts=True)
        yield f"w{number} renews j{job}", put_handler(after, number, job, trusting)
    else:
        yield f"w{number} is refused a renewal of j{job}", put_handler(state, number, job, None)


def settle_steps(state: State, protocol: Protocol, number: int, job: int, handler: Handler) -> Iterator[Step]:
    """A completion: accepted, refused, or accepted with its answer lost, so that it comes again."""
    row = state.rows[job]
    if row.state not in HELD or not fits(protocol, row, number, handler):
        yield f"w{number} is refused the completion of j{job}", put_handler(state, number, job, None)
        return
    after = put_row(state, job, Row("completed", row.attempt))
    if not handler.valid:
        after = after._replace(broken=COMPLETED_BY_A_STRANGER)
    yield f"w{number} completes j{job}", put_handler(after, number, job, None)
    if state.faults:
        yield f"w{number} completes j{job}, and the answer is lost", after._replace(faults=state.faults - 1)


def row_steps(state: State, protocol: Protocol, job: int, row: Row) -> Iterator[Step]:
    """The lease of a row runs out; a reaper finds it, and takes it back later."""
    if row.state == "held" and may_expire(state, protocol, job):
        yield (
            f"the lease of j{job} runs out",
            put_row(end_trust(state, protocol, job), job, row._replace(state="expired")),
        )
    if state.is_away or not protocol.reaps:
        return
    if protocol.reaper_looks_again:  # so what it saw before does not matter
        if row.state == "expired":
            yield f"the reaper takes j{job} back", give_up(state, protocol, job)
        return
    if row.state == "expired" and job not in state.looked:
        yield f"the reaper finds j{job}", state._replace(looked=state.looked | {job})
    if job in state.looked:
        seen = state._replace(looked=state.looked - {job})
        if row.state in HELD:
            if row.state == "held":
                seen = seen._replace(broken="I5: the reaper took a job whose lease had not run out")
            yield f"the reaper takes j{job} back", give_up(seen, protocol, job)
        else:
            yield f"the reaper leaves j{job}", seen


def may_expire(state: State, protocol: Protocol, job: int) -> bool:
    """A worker that can look at its clock has let go of its handler before its lease runs out."""
    if not protocol.has_trust_window:
        return True
    return not any(
        worker.status == "up" and handler is not None and handler.trusts and handler.valid
        for worker in state.workers
        for handler in [worker.handlers[job]]
    )


def end_trust(state: State, protocol: Protocol, job: int) -> State:
    """The window of a worker that is stopped has ended too; it will notice when it wakes up."""
    if not protocol.has_trust_window:
        return state
    for number, worker in enumerate(state.workers):
        handler = worker.handlers[job]
        if handler is not None and worker.status == "stopped":
            state = put_handler(state, number, job, handler._replace(trusts=False))
    return state


def fault_steps(state: State) -> Iterator[Step]:
    """What may go wrong, as long as there are faults left; and what ends by itself."""
    if state.is_away:
        yield "the database is back", state._replace(is_away=False)
    if state.standby is not None and state.standby != state.rows:
        promoted = state._replace(rows=state.standby, standby=None, timeline=1, looked=frozenset())
        for job, (before, after) in enumerate(zip(state.rows, promoted.rows, strict=True)):
            if before != after:
                promoted = forget_validity(promoted, job)
        yield "the standby takes over, without the last commits", promoted
    if not state.faults:
        return
    left = state._replace(faults=state.faults - 1)
    if not state.is_away:
        yield "the database goes away", left._replace(is_away=True)
    if state.standby is None and state.timeline == 0:
        yield "the standby falls behind", left._replace(standby=state.rows)
    for number, worker in enumerate(state.workers):
        if worker.status == "up":
            yield f"w{number} is stopped", put_worker(left, number, worker._replace(status="stopped"))
        if worker.status != "dead":
            dead = empty_worker(worker.incarnation, worker.timeline, len(state.rows))._replace(status="dead")
            yield f"w{number} dies", put_worker(left, number, dead)


def fits(protocol: Protocol, row: Row, number: int, handler: Handler) -> bool:
    """Whether the row is this token's, as far as the protocol compares."""
    is_attempt = row.attempt == handler.attempt or not protocol.compares_attempts
    is_owner = (row.owner, row.incarnation) == (number, handler.incarnation) or not protocol.compares_incarnations
    return is_attempt and is_owner


def give_up(state: State, protocol: Protocol, job: int) -> State:
    """Its holder's hand-back or the reaper: pending again. After three attempts the job has failed, which ends the model too;
    that a hand-back does not count is left out."""
    attempt = state.rows[job].attempt
    after = forget_validity(state, job)
    if attempt >= MOST_ATTEMPTS:
        return put_row(after, job, Row("failed", attempt))
    return put_row(after, job, Row("pending", attempt if protocol.keeps_attempts else attempt - 1))
