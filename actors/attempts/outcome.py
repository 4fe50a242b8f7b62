"""How an attempt ended, and how an exception is told to people."""

from __future__ import annotations

import logging
import os
import sys
import sysconfig
import traceback
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import FrameType, TracebackType
from typing import Any, cast

import msgspec
import trio

from leasehold.actors.attempts.held_job import SHUTDOWN, HeldJob
from leasehold.errors import DatabaseUnavailable, InvalidArgs, LeaseholdError, LockTimeout, report_of
from leasehold.jobs.arguments import encode_args
from leasehold.jobs.catalogue import promise_of
from leasehold.jobs.encoding import Check, encode_continuation, encode_wait
from leasehold.jobs.endings import ContinueWith, Discard, Reschedule, Retry, WaitFor, time_of
from leasehold.jobs.foreign_types import strange_types
from leasehold.jobs.kind import Kind
from leasehold.jobs.new_job import NewJob

log = logging.getLogger(__name__)

OURS = ("leasehold", "trio", "outcome")
# What stands between a worker and a handler, and where the handler is called: methods of a module, or all of it.
RUNNERS = (*OURS, "trio_asyncio", "asyncio", "uvloop", "concurrent", "importlib")
CALLERS = {
    *("leasehold.actors.running.slot._call", "leasehold.actors.running.slot._call_within"),
    "leasehold.actors.processes.child",
}
MOST_PLACE = 200
MOST_MESSAGE = 2_000
MOST_TRACEBACK = 10_000
MOST_OUTPUT_BYTES = 1_048_576
STATEMENT_TIMEOUT = "57014"
CONTROLS = (Discard, Retry, Reschedule, WaitFor)
NO_OUTPUT = (
    "the handler returned a new job, which nobody would run: `return job.continue_with(ship.new(…))` continues the chain, "
    "and `job.start(ship.new(…))` begins another; a handler that does not take its job returns `ContinueWith(ship.new(…))`"
)


def place_of(error: BaseException) -> str | None:
    """The innermost frame that is neither ours nor a library's, as `shop/jobs.py:42 in charge`; None without one."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    libraries = (*{sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")},)
    found: str | None = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        file, module = frame.f_code.co_filename, _module_of(frame)
        if module.partition(".")[0] not in OURS and not file.startswith((*libraries, "<frozen")):
            found = f"{_shorten(file, sys.path)}:{line} in {frame.f_code.co_name}"
    return None if found is None else found[-MOST_PLACE:]


def _shorten(file: str, roots: Sequence[str]) -> str:
    """The path below the folder that it was imported from."""
    folders = sorted((os.path.abspath(root) + os.sep for root in roots), key=len, reverse=True)
    return next((file.removeprefix(folder) for folder in folders if file.startswith(folder)), file)


class EncodedOutput(msgspec.Struct, frozen=True):
    """What a handler in a process returned: JSON that was checked there, None for null."""

    json: str | None


class Completed(msgspec.Struct, frozen=True):
    """The handler returned; `output` is JSON, None for null."""

    held: HeldJob
    output: str | None


class Failed(msgspec.Struct, frozen=True):
    """The handler raised, ran out of time, or could not be called.

    `retry_in`: seconds until the next attempt, None: as the kind says. `discard`: the job fails for good.
    """

    held: HeldJob
    error: dict[str, Any]
    retry_in: float | None = None
    discard: bool = False


class Rescheduled(msgspec.Struct, frozen=True):
    """The handler asked to run again after `after` seconds, or at the time `at`: one of the two is None. Or an outage of our
    database has ended the attempt."""

    held: HeldJob
    after: float | None
    reason: str
    at: datetime | None = None


class Released(msgspec.Struct, frozen=True):
    """The job never started, or was interrupted by a shutdown: it is handed back."""

    held: HeldJob


class Continued(msgspec.Struct, frozen=True):
    """The handler returned and makes further jobs. `continuation` and `output` are JSON.

    `has_next`: one of them is the next job of its chain, so that there is no output.
    """

    held: HeldJob
    continuation: str
    output: str | None
    has_next: bool


class Blocked(msgspec.Struct, frozen=True):
    """The handler waits for other chains; `wait` is JSON."""

    held: HeldJob
    wait: str


class Committed(msgspec.Struct, frozen=True):
    """The handler returned, and its own transaction has completed the job: nothing is left to write."""

    held: HeldJob
    has_next: bool
    continuation: str | None = None
    new_ids: Sequence[int] = ()


Outcome = Completed | Failed | Rescheduled | Released | Continued | Blocked | Committed


def ended(
    held: HeldJob, end: Any, started: Sequence[NewJob[Any]], check: Check, most: int = MOST_OUTPUT_BYTES
) -> Completed | Continued | Blocked | Failed:
    """The outcome of a handler that returned `end` and began chains. What cannot be written fails for good."""
    try:
        if isinstance(end, WaitFor):
            return Blocked(held, encode_wait(end, check))
        if isinstance(end, ContinueWith):
            continuation = cast("ContinueWith[Any]", end)
            return Continued(held, encode_continuation(continuation, started, check), None, has_next=True)
        done = completed(held, end, most)
        if not started or isinstance(done, Failed):
            return done
        return Continued(held, encode_continuation(None, started, check), done.output, has_next=False)
    except LeaseholdError as error:
        return Failed(held, describe(error) | {"type": "InvalidContinuation"}, discard=True)


def completed(held: HeldJob, output: Any, most: int = MOST_OUTPUT_BYTES) -> Completed | Failed:
    """The outcome of a handler that returned `output`. A bad output fails for good: the next one would be bad too."""
    if isinstance(output, EncodedOutput):
        return Completed(held, output.json)
    encoded = encode_output(output, held.kind, most)
    return Failed(held, encoded, discard=True) if isinstance(encoded, dict) else Completed(held, encoded)


def encode_output(output: Any, kind: Kind[..., Any], most: int = MOST_OUTPUT_BYTES) -> str | dict[str, Any] | None:
    """The output as JSON, None for null. Or an error: it is no JSON, has more bytes than that, is not what the kind promises, or
    is a new job or has one."""
    if output is not None and any(issubclass(each, (NewJob, ContinueWith)) for each in strange_types(output)):
        return {"type": "InvalidOutput", "message": NO_OUTPUT, "traceback": ""}
    try:
        encoded = b"null" if output is None else encode_args(output, "output")
    except InvalidArgs as error:
        return describe(error) | {"type": "InvalidOutput"}
    message = promise_of(kind).broken_by(output, encoded)
    if len(encoded) > most:
        advice = "; a payload store takes more (LEASEHOLD_PAYLOADS_STORE)" if most == MOST_OUTPUT_BYTES else ""
        message = f"output takes {len(encoded)} bytes; {most} is the most{advice}"
    if message is not None:
        return {"type": "InvalidOutput", "message": sanitized(message[:MOST_MESSAGE]), "traceback": ""}
    return None if output is None else encoded.decode()


def raised(held: HeldJob, error: BaseException) -> Failed | Rescheduled:
    """The outcome of a handler that raised. Never raises, even if the exception's class is broken."""
    try:
        if isinstance(error, Reschedule):
            after = None if error.after is None else float(error.after)
            return Rescheduled(
                held, after, sanitized(str(error)[:MOST_MESSAGE]), None if after is not None else time_of(error.at)
            )
        retry_in = float(error.after) if isinstance(error, Retry) else None
    except Exception as second:
        return Failed(held, describe(second))
    return Failed(held, describe(error), retry_in=retry_in, discard=isinstance(error, Discard))


def is_outage(error: BaseException) -> bool:
    """Whether our database failed the handler. Not a lock or a statement of its own that took too long: that is its matter."""
    if not isinstance(error, DatabaseUnavailable) or isinstance(error, LockTimeout):
        return False
    return getattr(error.__cause__, "sqlstate", None) != STATEMENT_TIMEOUT


def spared(held: HeldJob, error: BaseException, times: int) -> Rescheduled:
    """The outcome of an attempt that an outage has ended, for the job's `times`th time: it runs again, 0, 1, 2, 4 … s later."""
    reason = f"the database was not available, the attempt does not count: {_message(error)}"
    return Rescheduled(held, 0.0 if times == 1 else 2.0 ** (times - 2), sanitized(reason[:MOST_MESSAGE]))


def cancelled(held: HeldJob) -> Outcome | None:
    """That of a handler that let our cancellation through; None: the job is not ours any more."""
    if held.lost == SHUTDOWN:
        return Released(held)
    if held.lost is not None or held.clock is None:
        return None
    error, is_last = held.clock.error()
    return Failed(held, error, discard=is_last)


def missed(held: HeldJob, failure: BaseException | None) -> Failed | None:
    """The outcome of a handler that came back by itself after the deadline of its job."""
    error = None if held.clock is None else held.clock.missed()
    if error is None:
        return None
    return Failed(held, error if failure is None else with_raised(error, failure), discard=True)


def unless_interrupted(failed: Failed) -> Failed | Released:
    """This failure. But a job that a shutdown interrupted is handed back: its handler may fail because it was cancelled."""
    held = failed.held
    if held.lost != SHUTDOWN:
        return failed
    log.warning(
        "job %s attempt %s: handed back, because the worker ends; its handler was cancelled and ended with %s",
        held.id,
        held.attempt,
        in_a_line(failed.error),
        extra={"job_id": held.id, "reason": SHUTDOWN, "error": failed.error},
    )
    return Released(held)


def without_cancellation(error: BaseException) -> BaseException | None:
    """What the handler raised besides our cancellation; None: nothing else. Any other cancellation is a failure."""
    if trio.current_effective_deadline() > float("-inf"):
        return error
    if isinstance(error, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", error).split(trio.Cancelled)[1]
    return None if isinstance(error, trio.Cancelled) else error


def single_cause(error: BaseException) -> BaseException:
    """The exception that counts. A `Discard`, `Retry`, `Reschedule` or `WaitFor` that a child task raised, and an outage of
    our database, come in an exception group: if it is alone there, it counts. Any other error is returned as it is."""
    inner = error
    while isinstance(inner, BaseExceptionGroup):
        inner, *others = cast("BaseExceptionGroup[BaseException]", inner).exceptions
        if others:
            return error
    return inner if isinstance(inner, CONTROLS) or is_outage(inner) else error


def describe(error: BaseException) -> dict[str, Any]:
    """The type, message, traceback and place of an error, cut short and in what Postgres can keep. Never raises."""
    report = report_of(error)
    if report is not None:
        return report
    described = {
        "type": sanitized(type(error).__qualname__),
        "message": sanitized(_message(error)[:MOST_MESSAGE]),
        "traceback": sanitized(_traceback(error)[-MOST_TRACEBACK:]),
    }
    place = _place(error)
    return described if place is None else described | {"place": sanitized(place)}


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:
        return "the exception cannot be printed"


def _traceback(error: BaseException) -> str:
    trace = _of_the_handler(error.__traceback__)
    try:
        return "".join(traceback.format_exception(type(error), error, trace))
    except BaseException:  # a broken class of exceptions can break anything but this
        return "".join(traceback.format_tb(trace))


def _of_the_handler(trace: TracebackType | None) -> TracebackType | None:
    """From the first frame on that is not ours, if we had called a handler by then; else all of it: the error is ours."""
    found, has_called = trace, False
    while found is not None and (module := _module_of(found.tb_frame)).partition(".")[0] in RUNNERS:
        has_called = has_called or not CALLERS.isdisjoint((module, f"{module}.{found.tb_frame.f_code.co_name}"))
        found = found.tb_next
    return found if found is not None and has_called else trace


def _module_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _place(error: BaseException) -> str | None:
    try:
        return place_of(error)
    except Exception:
        return None


def with_raised(report: dict[str, Any], raised: BaseException) -> dict[str, Any]:
    """The error `report`, which is not the handler's own, together with what the handler raised. Never raises."""
    also = describe(raised)
    message = f"{report['message']}; it raised {also['type']}: {also['message']}"
    place = {"place": also["place"]} if "place" in also else {}
    return report | place | {"message": message[:MOST_MESSAGE], "traceback": also["traceback"]}


def in_a_line(error: Mapping[str, Any]) -> str:
    """A described error without its traceback, for the log."""
    place = f" ({error['place']})" if "place" in error else ""
    return f"{error['type']}: {error['message']}{place}"


def sanitized(text: str) -> str:
    """The text without what Postgres cannot keep: NUL becomes U+FFFD, a lone surrogate becomes a question mark."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
