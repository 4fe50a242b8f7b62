"""Has a process call a handler: the job goes there as it was claimed, and the answer comes back as a handler would give it."""

from __future__ import annotations

import pickle
from typing import Any

import msgspec

from leasehold.actors.attempts.held_job import HeldJob
from leasehold.actors.attempts.outcome import EncodedOutput
from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.processes.pool import ProcessPool
from leasehold.actors.processes.wire import Answer, ContinuedReply, Raised, Request, Returned, WaitsReply
from leasehold.errors import BadInput, DatabaseUnavailable, HandlerFailed, attach_report
from leasehold.jobs.endings import Discard, Reschedule, Retry, WaitFor


async def invoke_apart(
    pool: ProcessPool | None, held: HeldJob, identity: WorkerIdentity, most_output: int, *, decodes: bool
) -> Any:
    """What the handler returned or raised in its process. Raises ProcessCrashed and MemoryLimitExceeded as well.

    Args:
        pool: of the worker. Without one, raises BadInput.
        held: the job.
        identity: of the worker.
        most_output: bytes that the output may have.
        decodes: return the output as a value, which middlewares need, and not as JSON.
    """
    kind = held.kind
    if pool is None:
        raise BadInput(f"kind {kind.name} runs in a process, and this worker has none")
    row = {name: value for name, value in held.row.items() if name != "args"}
    request = Request(
        kind.function.__module__,
        kind.function.__qualname__,
        row,
        identity.incarnation,
        identity.worker_id,
        held.args,
        most_output,
    )
    encoded = await pool.call(kind, msgspec.msgpack.encode(request), held.clock)
    return _take(msgspec.msgpack.decode(encoded, type=Answer), decodes=decodes)


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
            raise _error_of(answer)


def _error_of(answer: Raised) -> Exception:
    """The exception that means the same here. It carries the type, message and traceback from the process."""
    message = str(answer.error["message"])
    match answer.meaning:
        case "retry":
            return attach_report(Retry(answer.after, message), answer.error)
        case "reschedule":
            after = answer.after if answer.at is None else None
            return attach_report(Reschedule(after, message, at=answer.at), answer.error)
        case "discard":
            return attach_report(Discard(message), answer.error)
        case "outage":
            return attach_report(DatabaseUnavailable(message), answer.error)
        case "failure":
            return attach_report(HandlerFailed(f"{answer.error['type']}: {message}"), answer.error)
