"""Calling a handler in the flavour it was written for, through its middlewares."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from inspect import iscoroutine
from typing import Any, NamedTuple, cast

import msgspec
import trio

from leasehold.actors.attempts.held_job import HeldJob
from leasehold.actors.attempts.outcome import MOST_OUTPUT_BYTES, EncodedOutput
from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.processes.pool import ProcessPool
from leasehold.actors.processes.wire import (
    Answer,
    ContinuedReply,
    Raised,
    Request,
    Returned,
    WaitsReply,
    decode_answer,
    encode,
)
from leasehold.app import App
from leasehold.database.border import run_asyncio
from leasehold.errors import BadInput, DatabaseUnavailable, HandlerFailed, WrongFlavour, tell
from leasehold.jobs.endings import Discard, Reschedule, Retry, WaitFor
from leasehold.jobs.job import Job
from leasehold.jobs.job_host import Context
from leasehold.jobs.kind import Kind
from leasehold.jobs.middleware import Attempt, CallNext, Middleware

SIGNS: Mapping[str, tuple[tuple[type[Exception], str], ...]] = {
    "trio": (
        (TypeError, "trio.run received unrecognized yield message"),
        (RuntimeError, "should be used inside a task"),
        (RuntimeError, "cannot determine the parent task"),
        (RuntimeError, "no running event loop"),
        (RuntimeError, "There is no current event loop"),
        (AttributeError, "'NoneType' object has no attribute 'create_future'"),  # asyncio's events, locks and queues
    ),
    "asyncio": (
        (RuntimeError, "must be called from async context"),
        (RuntimeError, "Task got bad yield"),
    ),
}
OTHER = {"trio": "asyncio", "asyncio": "trio"}


class Apart(NamedTuple):
    """What a handler in a process needs: the pool, and the job as it was claimed.

    `decodes`: return its output as a value, which middlewares need, and not as JSON. `most_output`: bytes that it may have.
    """

    pool: ProcessPool | None
    held: HeldJob
    identity: WorkerIdentity
    decodes: bool = False
    most_output: int = MOST_OUTPUT_BYTES


async def invoke(
    kind: Kind[..., Any],
    args: tuple[Any, ...],
    named: dict[str, Any],
    threads: trio.CapacityLimiter,
    apart: Apart | None = None,
) -> Any:
    """Call the handler and return its value; from a process, that value as JSON. Raises what the handler raises.

    Cancelling this waits for a thread, which ends where it calls `leasehold.checkpoint()`, and kills a process. A
    process gets the args as they were claimed, not `args` and `named`.

    Raises BadInput where this worker cannot run the kind, ProcessCrashed and MemoryLimitExceeded for a process.
    """
    match kind.runs:
        case "trio":
            return await kind.function(*args, **named)
        case "asyncio":
            return await run_asyncio(partial(kind.function, *args, **named))
        case "thread":
            return await trio.to_thread.run_sync(
                _call_in_thread, kind, partial(kind.function, *args, **named), limiter=threads
            )
        case "process":
            return await _invoke_apart(kind, apart)
        case _:  # a job that no flavour ran must not complete
            raise BadInput(f"kind {kind.name}: there is no way to run it as {kind.runs!r}")


def _call_in_thread(kind: Kind[..., Any], call: Callable[[], Any]) -> Any:
    """The thread runs other jobs later: an event loop that this one has set and left is not theirs."""
    try:
        made = call()
    finally:
        asyncio.set_event_loop(None)
    if not iscoroutine(made):
        return made
    made.close()
    raise WrongFlavour(
        f"handler {kind.name} is a plain function and returned a coroutine, which nobody awaits in its thread: "
        f"write it, or what wraps it, as `async def`, or add runs='asyncio' or runs='trio'"
    )


async def _invoke_apart(kind: Kind[..., Any], apart: Apart | None) -> Any:
    """What the handler returned or raised in its process. Raises ProcessCrashed and MemoryLimitExceeded as well."""
    if apart is None or apart.pool is None:
        raise BadInput(f"kind {kind.name} runs in a process, and this worker has none")
    row = {name: value for name, value in apart.held.row.items() if name != "args"}
    function, who = kind.function, apart.identity
    request = Request(
        function.__module__,
        function.__qualname__,
        row,
        who.incarnation,
        who.worker_id,
        apart.held.args,
        apart.most_output,
    )
    return _take(decode_answer(await apart.pool.run(kind, encode(request), apart.held.clock)), decodes=apart.decodes)


def _take(answer: Answer, *, decodes: bool) -> Any:
    match answer:
        case Returned():
            if not decodes:
                return EncodedOutput(answer.output)
            return None if answer.output is None else msgspec.json.decode(answer.output)
        case ContinuedReply():
            return pickle.loads(answer.pickled)
        case WaitsReply():
            raise WaitFor(pickle.loads(answer.pickled), answer.delay)
        case Raised():
            raise _meant(answer)


def _meant(answer: Raised) -> Exception:
    """The exception that means the same here. It carries the type, message and traceback from the process."""
    message = str(answer.error["message"])
    match answer.meaning:
        case "retry":
            return tell(Retry(answer.after, message), answer.error)
        case "reschedule":
            after = answer.after if answer.at is None else None
            return tell(Reschedule(after, message, at=answer.at), answer.error)
        case "discard":
            return tell(Discard(message), answer.error)
        case "outage":
            return tell(DatabaseUnavailable(message), answer.error)
        case "failure":
            return tell(HandlerFailed(f"{answer.error['type']}: {message}"), answer.error)


class MiddlewareChains(dict[Kind[..., Any], tuple[Middleware, ...]]):
    """The middlewares of each kind, outermost first; asked of the app once, when the kind's first job comes."""

    def __init__(self, app: App) -> None:
        super().__init__()
        self._app = app

    def __missing__(self, kind: Kind[..., Any]) -> tuple[Middleware, ...]:
        found = self[kind] = self._app.middlewares_of(kind)
        return found


class _NoLayers(dict[Kind[..., Any], tuple[Middleware, ...]]):
    def __missing__(self, kind: Kind[..., Any]) -> tuple[Middleware, ...]:
        return ()


NO_MIDDLEWARES = _NoLayers()


async def invoke_within(
    layers: tuple[Middleware, ...],
    job: Job,
    kind: Kind[..., Any],
    named: dict[str, Any],
    threads: trio.CapacityLimiter,
    apart: Apart | None = None,
) -> Any:
    """Call the handler through `layers`, and return what the outermost returns. `job` gets a context of its own."""
    context = Context()
    job = msgspec.structs.replace(job, context=context)
    attempt = Attempt(job, kind, named, context)
    call: CallNext = partial(invoke, kind, (job,) if kind.takes_job else (), named, threads, apart)
    for layer in reversed(layers):
        call = partial(layer, attempt, call)
    return await call()


def wrong_flavour(kind: Kind[..., Any], error: BaseException) -> WrongFlavour | None:
    """What to do about an error that a handler of this kind raised, where it awaits the other event loop; else None."""
    if isinstance(error, WrongFlavour):
        return error
    signs = SIGNS.get(kind.runs, ())
    for each in _innermost(error):
        if any(isinstance(each, type_) and text in str(each) for type_, text in signs):
            other = OTHER[kind.runs]
            return WrongFlavour(
                f"handler {kind.name} runs under {kind.runs} and awaits a library written for {other}: "
                f"add runs='{other}' to its kind, @app.kind(runs='{other}'), or to the app, App(runs='{other}'); "
                f"it was {type(each).__name__}: {str(each)[:200]}"
            )
    return None


def _innermost(error: BaseException) -> Iterator[BaseException]:
    """The error, or those in its groups, and what each was raised from, once: some are raised from themselves."""
    left, seen = [error], set[int]()
    while left:
        each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, BaseExceptionGroup):
            left += cast("BaseExceptionGroup[BaseException]", each).exceptions
            continue
        yield each
        if each.__cause__ is not None:
            left.append(each.__cause__)
