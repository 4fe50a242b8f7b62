"""Inside a process: calls handlers, one after the other, and encodes their answers."""

from __future__ import annotations

import faulthandler
import logging
import os
import pickle
import signal
import sys
from contextlib import suppress
from functools import lru_cache
from typing import Any, NoReturn, cast

import msgspec

from leasehold.actors.attempts.held_job import HeldJob
from leasehold.actors.attempts.log_handler import keeping_levels
from leasehold.actors.attempts.outcome import describe, encode_output, is_outage, single_cause
from leasehold.actors.processes.child_ends import cut_off_copies, die_with_parent, end_copy
from leasehold.actors.processes.files import OutputFileWriter
from leasehold.actors.processes.wire import Answer, ContinuedReply, Raised, Reply, Request, Returned, Setup, WaitsReply
from leasehold.concurrency.ending import undo_in_copies
from leasehold.database import Row
from leasehold.errors import BadInput
from leasehold.jobs import endings as retry
from leasehold.jobs.endings import ContinueWith, WaitFor
from leasehold.jobs.job import Job
from leasehold.jobs.job_host import Context
from leasehold.jobs.kind import CheckedKindOptions, Kind, find_object
from leasehold.observability.context import running_job
from leasehold.observability.logs import install_logging

OOM_SCORE = 500
STACK_SIGNAL = signal.SIGUSR1
"""Makes the process write its stack, even while C code holds the interpreter lock."""


class _ProcessState:
    pid = 0
    """Zero until it is prepared."""
    output_fd: int | None = None


def prepare(setup: bytes) -> int:
    """Set up a new process; returns its pid. It leads a session of its own. So signals of a terminal reach only the
    worker, which decides, and the process can be killed together with all that it has started."""
    chosen = msgspec.msgpack.decode(setup, type=Setup)
    with suppress(PermissionError):
        os.setsid()
    die_with_parent()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _decided_by_the_worker)
    _volunteer_for_oom_killer()
    files: list[int] = []
    if chosen.stack_file is not None:
        stacks = open(chosen.stack_file, "ab", buffering=0)  # noqa: SIM115  open until the end
        faulthandler.enable(stacks)
        faulthandler.register(STACK_SIGNAL, stacks)
        files.append(stacks.fileno())
    if chosen.output_file is not None:
        _ProcessState.output_fd = os.open(chosen.output_file, os.O_WRONLY | os.O_CLOEXEC)
        files.append(_ProcessState.output_fd)
    cut_off_copies(*files)
    if chosen.log_level is not None:
        install_logging("info", chosen.log_format, environ=os.environ)
        logging.getLogger().setLevel(chosen.log_level)
    retry.cancelled_by_kill()
    _ProcessState.pid = os.getpid()
    return _ProcessState.pid


def _decided_by_the_worker(_number: int, _frame: object) -> None:
    """Not SIG_IGN, which programs started by the handler would inherit."""


undo_in_copies(_decided_by_the_worker)


def _volunteer_for_oom_killer() -> None:
    """The kernel, short of memory, takes this process rather than the worker."""
    with suppress(OSError, ValueError), open("/proc/self/oom_score_adj", "r+") as file:
        if int(file.read()) < OOM_SCORE:
            file.seek(0)
            file.write(str(OOM_SCORE))


def respond(number: int, encoded: bytes) -> Reply | None:
    """Run the handler that the request names. None: this process is new and not prepared yet."""
    if not _ProcessState.pid:
        return None
    answer = _respond(msgspec.msgpack.decode(encoded, type=Request))
    with suppress(Exception):  # the handler may have closed or replaced it
        sys.stdout.flush()
    return number, os.getpid(), msgspec.msgpack.encode(answer)


def _respond(request: Request) -> Answer:
    token = running_job.set((request.row, request.worker_id))
    try:
        output = _call(request)
        end_copy(_ProcessState.pid)
        return _returned(output, find_kind(request.module, request.qualname), request.most_output)
    except BaseException as error:
        end_copy(_ProcessState.pid, error)
        return _raised(single_cause(error))
    finally:
        running_job.reset(token)


def _call(request: Request) -> Any:
    kind = find_kind(request.module, request.qualname)
    named = kind.decode_args(request.args)
    writer = OutputFileWriter(_ProcessState.output_fd)
    args = (_job(request, kind, writer),) if kind.takes_job else ()
    # The row has the name that the job was enqueued under, which may be another than that of the function.
    levels = {} if kind.options.keep_logs is None else {str(request.row["kind"]): kind.options.keep_logs}
    with keeping_levels(writer, request.worker_id, levels):
        return kind.function(*args, **named)


def _job(request: Request, kind: Kind[..., Any], writer: OutputFileWriter) -> Job:
    """The job as the handler sees it: its data, and a way to report progress, but no database."""
    row = cast("Row", request.row)
    held = HeldJob(row, kind, claimed_at=0.0, renew_after=1.0, incarnation=request.incarnation)
    return held.job(request.worker_id, ProcessJobHost(held.id, writer))


class ProcessJobHost:
    """What stands behind the methods of a job in a process: it takes progress and log lines, and nothing else."""

    cancel_reason = None
    """A process is killed, not told."""
    cancel_note = (None, None)

    def __init__(self, job_id: int, buffer: OutputFileWriter) -> None:
        self._job_id = job_id
        self.progress_sink = buffer

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(None), ())

    @property
    def state(self) -> Context:
        """Raises BadInput: what the app opened at its start is in the memory of the worker."""
        raise BadInput(
            "a handler in a process of its own does not share the state of its worker; open there what it needs"
        )

    def session(self) -> Any:
        """The session of this attempt."""
        return ProcessAttemptSession(self._job_id)

    archive = session
    """Payloads are out of reach here, too."""


class ProcessAttemptSession:
    """An attempt in a process. It takes a continuation; everything else needs the database and raises BadInput."""

    def __init__(self, job_id: int) -> None:
        self._job_id = job_id

    def set_continuation(self, continuation: ContinueWith[Any]) -> None:
        """Do nothing: the worker sees the continuation when the handler returns it."""

    def __getattr__(self, name: str) -> NoReturn:
        raise BadInput(f"job {self._job_id} has no worker at hand for {name}: it runs in a process of its own")


@lru_cache
def find_kind(module: str, qualname: str) -> Kind[..., Any]:
    """The handler at this place. Raises whatever importing its module raises."""
    found = find_object(module, qualname)
    if isinstance(found, Kind):
        return cast("Kind[..., Any]", found)
    return Kind(qualname, found, "process", CheckedKindOptions())


def _returned(output: Any, kind: Kind[..., Any], most: int) -> Answer:
    if isinstance(output, ContinueWith):
        return ContinuedReply(pickle.dumps(output))
    encoded = encode_output(output, kind, most)
    return Raised(encoded, "discard") if isinstance(encoded, dict) else Returned(encoded)


def _raised(error: BaseException) -> Answer:
    """What an exception means and says. Never raises, even if its class is broken."""
    try:
        if isinstance(error, WaitFor):
            return WaitsReply(pickle.dumps(error.blockers), error.delay)
        if isinstance(error, retry.Retry):
            return Raised(describe(error), "retry", float(error.after))
        if isinstance(error, retry.Reschedule):
            at = None if error.after is not None else retry.time_of(error.at)
            return Raised(describe(error), "reschedule", float(error.after or 0.0), at)
    except Exception as second:
        return Raised(describe(second))
    if is_outage(error):
        return Raised(describe(error), "outage")
    return Raised(describe(error), "discard" if isinstance(error, retry.Discard) else "failure")
