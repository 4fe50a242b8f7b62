"""How much memory a process has, looked at from outside.

Resident memory (RSS) is what a machine runs out of. A limit by the kernel (RLIMIT_AS, RLIMIT_DATA) counts what is only
reserved: thread stacks, arenas, mapped files and BLAS buffers; a library whose allocation is refused then aborts as
often as it raises. And a process cannot watch its own memory while C code holds the interpreter lock.
"""

from __future__ import annotations

import os
from typing import Any

import trio

from leasehold.actors.processes.member import Member, ProcessDied
from leasehold.errors import MemoryLimitExceeded, tell
from leasehold.jobs.kind import Kind

MEBIBYTE = 1_048_576
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
HAS_PROC = os.path.exists("/proc/self/statm")

LOOK_SECONDS = 0.05


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
