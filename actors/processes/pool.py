"""The processes of a worker: started when first needed, used again, replaced when they die."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Self

import trio

from leasehold.actors.attempts.progress import ProgressBuffer
from leasehold.actors.attempts.run_clock import RunClock
from leasehold.actors.processes.deaths import ProcessDied, crashed
from leasehold.app import App
from leasehold.errors import MemoryLimitExceeded, attach_report
from leasehold.jobs.kind import Kind, check_importable

if TYPE_CHECKING:
    from leasehold.actors.processes.member import Member

MEBIBYTE = 1_048_576
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
HAS_PROC = os.path.exists("/proc/self/statm")
MEMORY_SECONDS = 0.05
READ_SECONDS = 0.5
FRESH_SHARE = 0.5
"""A process that has more than this share of a job's limit already is replaced before the job starts."""


def check_process_kinds(app: App) -> int:
    """Check the kinds of the app that run in a process; returns how many there are.

    Raises:
        InvalidArgs: a handler cannot be imported by name. BadInput: trio-parallel is not installed.
    """
    kinds = [kind for kind in app if kind.runs == "process"]
    if not kinds:
        return 0
    from leasehold.actors.processes.member import check_installed  # noqa: PLC0415  not paid for by others

    check_installed()
    for kind in kinds:
        check_importable(kind.name, kind.function)
    return len(kinds)


class ProcessPool:
    """Runs requests in at most `size` processes; more requests wait. As an actor it hears what processes say while they run, and
    puts it into `buffer`."""

    name = "process output reader"

    def __init__(
        self, size: int, start: Callable[[], Awaitable[Member]] | None = None, buffer: ProgressBuffer | None = None
    ) -> None:
        self._buffer = buffer or ProgressBuffer()
        self._start = start or _start_member
        self._free: list[Member] = []
        self._busy: dict[trio.lowlevel.Task, Member] = {}
        self._places = trio.CapacityLimiter(size)

    @property
    def size(self) -> int:
        """The largest number of processes."""
        return int(self._places.total_tokens)

    def resize(self, slots: int) -> None:
        """Run no more processes at once than the worker has slots, nor than there are CPUs."""
        self._places.total_tokens = min(slots, usable_cpus())

    async def stack(self, task: trio.lowlevel.Task) -> str:
        """The stacks of the process that works for this task; empty if there is none, or it does not answer."""
        member = self._busy.get(task)
        return await member.stack() if member is not None else ""

    async def call(self, kind: Kind[..., Any], request: bytes, clock: RunClock | None = None) -> bytes:
        """The answer to a request. The `clock` of the handler's timeout stands still while the job waits for a process.

        Raises:
            ProcessCrashed, MemoryLimitExceeded: the process is gone; the next job has another one.
        """
        limit = kind.options.memory_limit
        if clock is not None:
            clock.stop()
        async with self._places:
            member = await self._take(kind, limit)
            if clock is not None:
                clock.start()
            task = trio.lowlevel.current_task()
            self._busy[task] = member
            try:
                answer = await (member.call(request) if limit is None else call_within(member, request, kind, limit))
            except BaseException as error:
                member.read_output(self._buffer)
                with trio.CancelScope(shield=True):
                    await member.aclose()
                if isinstance(error, ProcessDied):
                    raise crashed(kind, error) from None
                raise
            finally:
                del self._busy[task]
            member.read_output(self._buffer)
            self._free.append(member)
            return answer

    async def run(self) -> None:
        """Hear the running handlers until cancelled. When a handler ends, `call` does it."""
        while True:
            await trio.sleep(READ_SECONDS)
            for member in self._busy.values():
                member.read_output(self._buffer)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        """End all processes. No request may be running."""
        with trio.CancelScope(shield=True):
            async with trio.open_nursery() as nursery:
                while self._free:
                    nursery.start_soon(self._free.pop().aclose)

    async def _take(self, kind: Kind[..., Any], limit: int | None) -> Member:
        while self._free:
            member = self._free.pop()
            if limit is None or resident_bytes(member.pid) <= limit * FRESH_SHARE:
                return member
            with trio.CancelScope(shield=True):
                await member.aclose()
        try:
            return await self._start()
        except ProcessDied as error:
            error.is_ready = False
            raise crashed(kind, error) from None


def pool_for(app: App, slots: int, buffer: ProgressBuffer | None = None) -> ProcessPool | None:
    """The pool that a worker needs for this app, or None where no kind runs in a process.

    As many processes as slots, but no more than this process may use CPUs. Raises as `check_process_kinds`.
    """
    return ProcessPool(min(slots, usable_cpus()), buffer=buffer) if check_process_kinds(app) else None


def usable_cpus() -> int:
    """How many CPUs this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def resident_bytes(pid: int) -> int:
    """Resident memory of a process; 0 when it has ended."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:  # a quarter of the time that psutil takes
            return int(file.read().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):
        return 0 if HAS_PROC else _resident_bytes_elsewhere(pid)


def _resident_bytes_elsewhere(pid: int) -> int:
    import psutil  # noqa: PLC0415  not needed on Linux

    try:
        return psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return 0


async def until_above(pid: int, limit: int) -> int:
    """Wait until the process has more than `limit` bytes, looking twenty times a second; returns how many."""
    measured = 0
    while measured <= limit:
        await trio.sleep(MEMORY_SECONDS)
        measured = resident_bytes(pid)
    return measured


async def call_within(member: Member, request: bytes, kind: Kind[..., Any], limit: int) -> bytes:
    """The answer of `member`, which is killed beyond `limit` bytes. Raises MemoryLimitExceeded, ProcessDied."""
    measured = 0
    answer: bytes | None = None
    death: ProcessDied | None = None

    async def watch() -> None:
        nonlocal measured
        measured = await until_above(member.pid, limit)
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        try:
            answer = await member.call(request)
        except ProcessDied as error:
            death = error
        nursery.cancel_scope.cancel()
    if death is not None:
        raise death
    if answer is None:
        raise _exceeded(kind, member.pid, limit, measured)
    return answer


def _exceeded(kind: Kind[..., Any], pid: int, limit: int, measured: int) -> MemoryLimitExceeded:
    place = f"{kind.function.__module__}.{kind.function.__qualname__}"
    message = (
        f"process {pid} of handler {place} was killed: it had {measured / MEBIBYTE:.0f} MiB, its limit is "
        f"{limit / MEBIBYTE:g} MiB"
    )
    report = {"type": "MemoryLimitExceeded", "message": message, "traceback": "", "limit": limit, "measured": measured}
    return attach_report(MemoryLimitExceeded(message), report)


async def _start_member() -> Member:
    from leasehold.actors.processes.member import start_member  # noqa: PLC0415

    return await start_member()
