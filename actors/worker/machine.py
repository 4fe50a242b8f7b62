"""How much memory and CPU is in use, as shares of the container's limit or, without a limit, of the machine.

The limit of a container (control groups, version 2 and version 1) may stand at any level above the process, so all levels are
read. Without a limit of CPU, other programs share the machine. Then only the CPU counts that this process and its children
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

from leasehold.observability.wording import show_bytes

MICROSECOND = 1e-6
NANOSECOND = 1e-9
SMOOTH_SECONDS = 10.0
SHORTEST_SPAN = 0.05


class Memory(NamedTuple):
    """Bytes in use, without page cache that can be reclaimed, and the limit in bytes."""

    used: int
    limit: int

    @property
    def share(self) -> float:
        """How much of the limit is in use."""
        return self.used / self.limit


class Cpu(NamedTuple):
    """Seconds of CPU used so far, and the limit as a number of CPUs."""

    seconds: float
    limit: float


class _MemoryFiles(NamedTuple):
    limits: tuple[str, ...]
    used: str
    reclaimable: str


MEMORY_FILES = {
    2: _MemoryFiles(("memory.max", "memory.high"), "memory.current", "inactive_file"),
    1: _MemoryFiles(("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file"),
}


class Cgroup:
    """The control groups of this process. Their folders are looked up once; limits and use are read each time."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._memory_version, self._memory = _find(root, "memory")
        self._cpu_version, self._cpu = _find(root, "cpu")
        # The two controllers are mounted apart or together, and the group has the same path under both.
        self._accounts = dict(zip(reversed(self._cpu), reversed(_find(root, "cpuacct")[1]), strict=False))

    def memory(self, machine: int) -> Memory | None:
        """The memory of the fullest level; None where no limit is below `machine`, the bytes of the machine."""
        files = MEMORY_FILES[self._memory_version]
        found: list[Memory] = []
        for folder in self._memory:
            limits = [limit for name in files.limits if (limit := _number(f"{folder}/{name}")) is not None]
            used = _number(f"{folder}/{files.used}")
            if limits and used is not None and 0 < min(limits) < machine:
                reclaimable = _field(f"{folder}/memory.stat", files.reclaimable) or 0
                found.append(Memory(max(0, used - reclaimable), min(limits)))
        return max(found, key=lambda memory: memory.share, default=None)

    def cpu(self, machine: float) -> Cpu | None:
        """The CPU of the level with the lowest limit, the outermost of several; None if no limit is below `machine`."""
        read = self._read_cpu_2 if self._cpu_version == 2 else self._read_cpu_1
        narrow = [cpu for folder in self._cpu if (cpu := read(folder)) is not None and cpu.limit < machine]
        return min(reversed(narrow), key=lambda cpu: cpu.limit, default=None)

    @staticmethod
    def _read_cpu_2(folder: str) -> Cpu | None:
        quota, _, period = _text(f"{folder}/cpu.max").partition(" ")
        used = _field(f"{folder}/cpu.stat", "usage_usec")
        if used is None or not quota.isdecimal() or not period.isdecimal() or not int(period):
            return None
        return Cpu(used * MICROSECOND, int(quota) / int(period))

    def _read_cpu_1(self, folder: str) -> Cpu | None:
        quota, period = _number(f"{folder}/cpu.cfs_quota_us"), _number(f"{folder}/cpu.cfs_period_us")
        used = _number(f"{self._accounts[folder]}/cpuacct.usage") if folder in self._accounts else None
        return Cpu(used * NANOSECOND, quota / period) if used is not None and quota and period else None


def _find(root: Path, controller: str) -> tuple[int, list[str]]:
    """The version of cgroups that has this controller, and its folders, from our own group up to the outermost."""
    mount = root / "sys/fs/cgroup"
    paths: dict[str, str] = {}
    for line in _text(f"{root}/proc/self/cgroup").splitlines():
        _, names, path = [*line.split(":", 2), "", ""][:3]
        paths |= dict.fromkeys(names.split(","), path)
    if controller in paths and (mount / controller).is_dir():
        return 1, _folders(mount / controller, paths[controller])
    return 2, _folders(mount, paths.get("", ""))


def _folders(mount: Path, path: str) -> list[str]:
    own = mount / path.strip("/")
    # Inside of a container this may be the path on the host.
    if ".." in own.parts or not own.is_dir():
        own = mount
    return [str(each) for each in (own, *own.parents) if each.is_relative_to(mount)]


def _text(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def _number(path: str) -> int | None:
    """None where there is none: no such file, `max`, `-1`."""
    text = _text(path)
    return int(text) if text.isdecimal() else None


def _field(path: str, name: str) -> int | None:
    for line in _text(path).splitlines():
        key, _, value = line.partition(" ")
        if key == name and value.isdecimal():
            return int(value)
    return None


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


def read_machine() -> Reading:
    """The memory that is in use on the machine, and the CPU that this process and its children have used on it, by psutil.

    Raises OSError and psutil.Error.
    """
    memory = psutil.virtual_memory()
    own = psutil.Process().cpu_times()
    used = own.user + own.system + own.children_user + own.children_system
    used += sum(_used_by(process_id) for process_id in _children(os.getpid()))
    return Reading(Memory(memory.total - memory.available, memory.total), Cpu(used, float(psutil.cpu_count() or 1)))


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

    def __init__(self, root: Path = Path("/"), machine: Callable[[], Reading] = read_machine) -> None:
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
