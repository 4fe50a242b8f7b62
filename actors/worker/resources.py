"""How much memory and CPU is in use, as shares of the container's limit or, without a limit, of the machine.

Without a limit of CPU, other programs share the machine. Then only the CPU counts that this process and its children
use.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import psutil

from leasehold.actors.worker.cgroup import Cgroup, Cpu, Memory
from leasehold.observability.wording import show_bytes

SMOOTH_SECONDS = 10.0
SHORTEST_SPAN = 0.05


class Machine(NamedTuple):
    """The memory that is in use on the machine, and the CPU that this process and its children have used on it."""

    memory: Memory
    cpu: Cpu


class Reading(NamedTuple):
    """The memory and CPU that are in use at one moment."""

    memory: Memory
    cpu: Cpu


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """What is in use.

    Attributes:
        memory: share of `memory_limit` (bytes). It is not smoothed: it does not jitter, and delay may cost the process.
        cpu: share of `cpu_limit` (CPUs), smoothed over ten seconds, 0 at first: a short burst must not stop claims.
    """

    memory: float
    memory_limit: int
    cpu: float
    cpu_limit: float


class Usage(NamedTuple):
    """What the process itself uses: bytes of memory, and seconds of CPU since its start, its own and the kernel's."""

    rss: int
    cpu_user: float
    cpu_system: float


def read_usage() -> Usage | None:
    """The usage of this process; None where the machine does not tell."""
    try:
        own = psutil.Process()
        times = own.cpu_times()
        return Usage(own.memory_info().rss, times.user, times.system)
    except (OSError, psutil.Error):
        return None


def read_machine() -> Machine:
    """Read the machine with psutil. Raises OSError and psutil.Error."""
    memory = psutil.virtual_memory()
    own = psutil.Process().cpu_times()
    used = own.user + own.system + own.children_user + own.children_system
    used += sum(_used_by(process_id) for process_id in _children(os.getpid()))
    return Machine(Memory(memory.total - memory.available, memory.total), Cpu(used, float(psutil.cpu_count() or 1)))


def _used_by(process_id: int) -> float:
    """Seconds of CPU of a child that still runs, and of its own children."""
    try:
        times = psutil.Process(process_id).cpu_times()
    except psutil.Error:
        return 0.0
    own = times.user + times.system + times.children_user + times.children_system
    return own + sum(_used_by(child) for child in _children(process_id))


def _children(process_id: int) -> list[int]:
    """The children that the kernel lists for a process; psutil would look through all processes of the machine."""
    listed: list[int] = []
    for file in Path(f"/proc/{process_id}/task").glob("*/children"):
        with suppress(OSError):
            listed += map(int, file.read_text().split())
    return listed


class Resources:
    """Reads memory and CPU. `root` is the folder that has `proc` and `sys`."""

    def __init__(self, root: Path = Path("/"), machine: Callable[[], Machine] = read_machine) -> None:
        self._cgroup = Cgroup(root)
        self._machine = machine

    def read(self) -> Reading:
        """What is in use now. Raises OSError and psutil.Error where the machine does not tell."""
        machine = self._machine()
        return Reading(
            self._cgroup.memory(machine.memory.limit) or machine.memory,
            self._cgroup.cpu(machine.cpu.limit) or machine.cpu,
        )


class Meter:
    """Turns one reading after another into a load."""

    def __init__(self) -> None:
        self._cpu = 0.0
        self._last: tuple[float, Cpu] | None = None

    def add(self, reading: Reading, now: float) -> Load:
        """The load with this reading, taken at `now`, in seconds."""
        cpu = reading.cpu
        if self._last is None or self._last[1].limit != cpu.limit:
            self._last = now, cpu
        elif (elapsed := now - self._last[0]) >= SHORTEST_SPAN:
            share = (cpu.seconds - self._last[1].seconds) / elapsed / cpu.limit
            self._cpu += (min(1.0, max(0.0, share)) - self._cpu) * -math.expm1(-elapsed / SMOOTH_SECONDS)
            self._last = now, cpu
        return Load(memory=reading.memory.share, memory_limit=reading.memory.limit, cpu=self._cpu, cpu_limit=cpu.limit)


def find_strain(load: Load, most_memory: float, most_cpu: float) -> str | None:
    """Why the worker should begin nothing more under this load; None: it may. The limits are shares, 1 for none."""
    reasons: list[str] = []
    if load.memory > most_memory:
        reasons.append(f"memory {describe_memory(load)} (limit {most_memory:.0%})")
    if load.cpu > most_cpu:
        reasons.append(f"CPU {describe_cpu(load)} (limit {most_cpu:.0%})")
    return ", ".join(reasons).replace("%", " %") or None


def describe_load(load: Load) -> str:
    """The load in words."""
    return f"memory {describe_memory(load)}, CPU {describe_cpu(load)}".replace("%", " %")


def describe_memory(load: Load) -> str:
    """Memory as text: `87% of 2.0 GiB`."""
    return f"{load.memory:.0%} of {show_bytes(load.memory_limit)}"


def describe_cpu(load: Load) -> str:
    """CPU as text: `95% of 1.5 CPUs`."""
    return f"{load.cpu:.0%} of {load.cpu_limit:g} CPU{'' if load.cpu_limit == 1 else 's'}"
