"""The limits of the container: control groups, version 2 and version 1.

A limit may stand at any level above the process, so all levels are read. Tests replace the root of the files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

MICROSECOND = 1e-6
NANOSECOND = 1e-9


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
        _, self._accounts = _find(root, "cpuacct")

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
        levels = self._cpu_2() if self._cpu_version == 2 else self._cpu_1()
        narrow = [cpu for cpu in levels if cpu is not None and cpu.limit < machine]
        return min(reversed(narrow), key=lambda cpu: cpu.limit, default=None)

    def _cpu_2(self) -> list[Cpu | None]:
        def read(folder: str) -> Cpu | None:
            quota, _, period = _text(f"{folder}/cpu.max").partition(" ")
            used = _field(f"{folder}/cpu.stat", "usage_usec")
            if used is None or not quota.isdecimal() or not period.isdecimal() or not int(period):
                return None
            return Cpu(used * MICROSECOND, int(quota) / int(period))

        return _levels(self._cpu, read)

    def _cpu_1(self) -> list[Cpu | None]:
        # The two controllers are mounted apart or together, and the group has the same path under both.
        accounts = dict(zip(reversed(self._cpu), reversed(self._accounts), strict=False))

        def read(folder: str) -> Cpu | None:
            quota, period = _number(f"{folder}/cpu.cfs_quota_us"), _number(f"{folder}/cpu.cfs_period_us")
            used = _number(f"{accounts[folder]}/cpuacct.usage") if folder in accounts else None
            return Cpu(used * NANOSECOND, quota / period) if used is not None and quota and period else None

        return _levels(self._cpu, read)


def _levels(folders: list[str], read: Callable[[str], Cpu | None]) -> list[Cpu | None]:
    return [read(folder) for folder in folders]


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
