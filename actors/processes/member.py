"""One process that runs handlers: what the pool asks of it, how it died, and how much memory it may have."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import trio

from leasehold.actors.attempts.progress import ProgressBuffer
from leasehold.errors import LeaseholdError, MemoryLimitExceeded, tell
from leasehold.jobs.kind import Kind

MEBIBYTE = 1_048_576
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
HAS_PROC = os.path.exists("/proc/self/statm")
LOOK_SECONDS = 0.05


class ProcessDied(LeaseholdError):
    """The process ended under its handler.

    Attributes:
        is_ready: False where it ended before a handler began, so that no job is to blame.
        why: why the worker killed it; empty where it ended by itself.
    """

    is_ready = True

    def __init__(
        self,
        message: str | None = None,
        *,
        pid: int = 0,
        exit_code: int | None = None,
        stack: str = "",
        why: str = "",
    ) -> None:
        super().__init__(message)
        self.pid = pid
        self.exit_code = exit_code
        self.stack = stack
        self.why = why

    @property
    def how(self) -> str:
        """How it ended, as text: `was killed by SIGSEGV`, or `ended with exit code 3`."""
        if self.why:
            return f"was killed: {self.why}"
        if self.exit_code is None or self.exit_code >= 0:
            return f"ended with exit code {self.exit_code}"
        try:
            name = signal.Signals(-self.exit_code).name
        except ValueError:
            name = f"signal {-self.exit_code}"
        hint = " (so does the kernel when memory runs out)" if name == "SIGKILL" else ""
        return f"was killed by {name}{hint}"


class Member(Protocol):
    """A process that is ready. It ends with this one, however this one ends."""

    @property
    def pid(self) -> int:
        """The pid of the process that answered last."""
        ...

    async def call(self, request: bytes) -> bytes:
        """Have a request answered. Cancelling kills the process and what it has started; then only `aclose` is left.

        Raises:
            ProcessDied: it ended before it answered.
        """
        ...

    def hear(self, buffer: ProgressBuffer) -> None:
        """Put what the handler has said since the last time into the buffer."""
        ...

    async def stack(self) -> str:
        """The stacks of all threads of the process; empty if it does not answer."""
        ...

    async def aclose(self) -> None:
        """End the process, whatever state it is in."""
        ...


Start = Callable[[], Awaitable[Member]]


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
        await trio.sleep(LOOK_SECONDS)
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
    told = {"type": "MemoryLimitExceeded", "message": message, "traceback": "", "limit": limit, "measured": measured}
    return tell(MemoryLimitExceeded(message), told)
