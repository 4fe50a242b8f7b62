"""Machines and containers that are as full as a test wants."""

from __future__ import annotations

from pathlib import Path

from leasehold.actors.worker.machine import Cpu, Memory, Reading

GIBIBYTE = 2**30
HUGE = 2**63 - 4096


class FakeResources:
    """Reads what the test has set: `memory` of 2 GiB as a share, and a number of seconds of CPU."""

    def __init__(self, memory: float = 0.5) -> None:
        self.memory = memory
        self.cpu_seconds = 0.0
        self.looks = 0

    def read(self) -> Reading:
        self.looks += 1
        return Reading(Memory(int(self.memory * 2 * GIBIBYTE), 2 * GIBIBYTE), Cpu(self.cpu_seconds, 2.0))


class FakeClock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def fake_machine(memory_used: int = 4 * GIBIBYTE, cpu_seconds: float = 100.0) -> Reading:
    """8 GiB and 4 CPUs."""
    return Reading(Memory(memory_used, 8 * GIBIBYTE), Cpu(cpu_seconds, 4.0))


class FakeFiles:
    """`proc` and `sys` in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def group(self, path: str, files: dict[str, str | int]) -> None:
        """Files of one control group."""
        folder = self.root / "sys/fs/cgroup" / path
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_text(f"{content}\n")

    def own_groups(self, *lines: str) -> None:
        """What /proc/self/cgroup says."""
        (self.root / "proc/self").mkdir(parents=True, exist_ok=True)
        (self.root / "proc/self/cgroup").write_text("".join(f"{line}\n" for line in lines))
