"""What there is in the model: rows, workers, handlers; and how one of them is put in another's place."""

from __future__ import annotations

from typing import Literal, NamedTuple

RowState = Literal["pending", "held", "expired", "completed", "failed"]
HELD = ("held", "expired")
ENDED = ("completed", "failed")


class Row(NamedTuple):
    """A job as the database has it."""

    state: RowState = "pending"
    attempt: int = 0
    owner: int = -1  # the worker
    incarnation: int = -1


class Handler(NamedTuple):
    """An attempt as its worker sees it. `valid` is known to nobody: whether it is the attempt that the row was given to last."""

    attempt: int
    incarnation: int
    trusts: bool = True
    valid: bool = True


class Worker(NamedTuple):
    """A process. `timeline` is that of the database when it connected last; `old` are handlers of jobs that it has claimed again
    since, and which may still report."""

    status: Literal["up", "stopped", "dead"]
    incarnation: int
    timeline: int
    handlers: tuple[Handler | None, ...]
    old: tuple[Handler | None, ...]


class State(NamedTuple):
    """Everything. `lost` are the rows that a standby has which is behind; `looked`: jobs that the reaper has found expired."""

    rows: tuple[Row, ...]
    workers: tuple[Worker, ...]
    faults: int
    is_away: bool = False
    timeline: int = 0
    standby: tuple[Row, ...] | None = None
    looked: frozenset[int] = frozenset()
    broken: str | None = None


def first_state(workers: int, jobs: int, faults: int) -> State:
    """Nothing has happened; so many faults may."""
    return State((Row(),) * jobs, (empty_worker(0, 0, jobs),) * workers, faults)


def empty_worker(incarnation: int, timeline: int, jobs: int) -> Worker:
    """A process that has nothing."""
    return Worker("up", incarnation, timeline, (None,) * jobs, (None,) * jobs)


def forget_validity(state: State, job: int) -> State:
    """Whoever has a handler of this job is no longer its owner."""
    workers = tuple(
        worker._replace(handlers=swap(worker.handlers, job, handler._replace(valid=False)))
        if (handler := worker.handlers[job]) is not None
        else worker
        for worker in state.workers
    )
    return state._replace(workers=workers)


def put_row(state: State, job: int, row: Row) -> State:
    """The same with another row."""
    return state._replace(rows=(*state.rows[:job], row, *state.rows[job + 1 :]))


def put_worker(state: State, number: int, worker: Worker) -> State:
    """The same with another worker."""
    return state._replace(workers=(*state.workers[:number], worker, *state.workers[number + 1 :]))


def put_handler(state: State, number: int, job: int, handler: Handler | None) -> State:
    """The same with another handler."""
    worker = state.workers[number]
    return put_worker(state, number, worker._replace(handlers=swap(worker.handlers, job, handler)))


def swap(handlers: tuple[Handler | None, ...], job: int, handler: Handler | None) -> tuple[Handler | None, ...]:
    """The same with another one in this place."""
    return (*handlers[:job], handler, *handlers[job + 1 :])
