from __future__ import annotations

from pathlib import Path

import pytest

from leasehold.actors.worker.machine import Cgroup, Cpu, Memory
from tests.support.machines import GIBIBYTE, HUGE, FakeFiles

MACHINE = 8 * GIBIBYTE


@pytest.fixture
def files(tmp_path: Path) -> FakeFiles:
    return FakeFiles(tmp_path)


def memory_2(current: int, limit: str | int, inactive: int = 0) -> dict[str, str | int]:
    return {
        "memory.max": limit,
        "memory.high": "max",
        "memory.current": current,
        "memory.stat": f"anon 5\ninactive_file {inactive}",
    }


def cpu_2(used: int, limit: str) -> dict[str, str | int]:
    return {"cpu.max": limit, "cpu.stat": f"usage_usec {used}\nuser_usec 1"}


def test_version_2_with_its_own_namespace(files: FakeFiles) -> None:
    files.own_groups("0::/")
    files.group("", {**memory_2(3 * GIBIBYTE, 4 * GIBIBYTE, GIBIBYTE), **cpu_2(2_500_000, "150000 100000")})
    cgroup = Cgroup(files.root)
    assert cgroup.memory(MACHINE) == Memory(2 * GIBIBYTE, 4 * GIBIBYTE)
    assert cgroup.cpu(4) == Cpu(2.5, 1.5)


def test_version_2_takes_the_level_that_is_fullest_and_the_one_with_the_fewest_cpus(files: FakeFiles) -> None:
    files.own_groups("0::/slice/pod/container")
    files.group("slice", {**memory_2(7 * GIBIBYTE, 7 * GIBIBYTE), **cpu_2(30_000_000, "100000 100000")})
    files.group("slice/pod", {**memory_2(1, 2 * GIBIBYTE), **cpu_2(20_000_000, "100000 100000")})
    files.group("slice/pod/container", {**memory_2(1, "max"), **cpu_2(10_000_000, "max 100000")})
    cgroup = Cgroup(files.root)
    assert cgroup.memory(MACHINE) == Memory(7 * GIBIBYTE, 7 * GIBIBYTE)
    assert cgroup.cpu(4) == Cpu(30.0, 1.0)


def test_the_lower_of_two_limits_counts(files: FakeFiles) -> None:
    files.own_groups("0::/")
    files.group("", {**memory_2(GIBIBYTE, 4 * GIBIBYTE), "memory.high": 2 * GIBIBYTE})
    assert Cgroup(files.root).memory(MACHINE) == Memory(GIBIBYTE, 2 * GIBIBYTE)


def test_version_1_in_a_container_that_sees_the_path_of_the_host(files: FakeFiles) -> None:
    files.own_groups("4:memory:/docker/0123", "2:cpu,cpuacct:/docker/0123", "0::/")
    files.group(
        "memory",
        {
            "memory.limit_in_bytes": 2 * GIBIBYTE,
            "memory.usage_in_bytes": GIBIBYTE,
            "memory.stat": f"inactive_file 0\ntotal_inactive_file {GIBIBYTE // 2}",
        },
    )
    files.group("cpu", {"cpu.cfs_quota_us": 50_000, "cpu.cfs_period_us": 100_000})
    files.group("cpuacct", {"cpuacct.usage": 1_500_000_000})
    cgroup = Cgroup(files.root)
    assert cgroup.memory(MACHINE) == Memory(GIBIBYTE // 2, 2 * GIBIBYTE)
    assert cgroup.cpu(4) == Cpu(1.5, 0.5)


def test_version_1_with_a_limit_further_up(files: FakeFiles) -> None:
    files.own_groups("4:memory:/outer/inner", "2:cpu:/outer/inner", "1:cpuacct:/outer/inner")
    files.group("memory/outer", {"memory.limit_in_bytes": GIBIBYTE, "memory.usage_in_bytes": 5})
    files.group("memory/outer/inner", {"memory.limit_in_bytes": HUGE, "memory.usage_in_bytes": 4})
    files.group("cpu/outer", {"cpu.cfs_quota_us": 100_000, "cpu.cfs_period_us": 100_000})
    files.group("cpu/outer/inner", {"cpu.cfs_quota_us": -1, "cpu.cfs_period_us": 100_000})
    files.group("cpuacct/outer", {"cpuacct.usage": 7_000_000_000})
    files.group("cpuacct/outer/inner", {"cpuacct.usage": 3_000_000_000})
    cgroup = Cgroup(files.root)
    assert cgroup.memory(MACHINE) == Memory(5, GIBIBYTE)
    assert cgroup.cpu(4) == Cpu(7.0, 1.0)


@pytest.mark.parametrize(
    "group",
    [
        {},
        {**memory_2(1, "max"), **cpu_2(1, "max 100000")},
        {**memory_2(1, 9 * GIBIBYTE), **cpu_2(1, "800000 100000")},
        {**memory_2(1, "?"), **cpu_2(1, "?")},
        {"memory.max": 5, "cpu.max": "1 0"},
    ],
)
def test_without_a_limit_below_the_machine_there_is_none(files: FakeFiles, group: dict[str, str | int]) -> None:
    files.own_groups("0::/some/where")
    files.group("some/where", group)
    cgroup = Cgroup(files.root)
    assert (cgroup.memory(MACHINE), cgroup.cpu(4)) == (None, None)


@pytest.mark.parametrize("lines", [(), ("nonsense",), ("0::/../../outside",), ("0::/gone",)])
def test_a_path_that_leads_nowhere_means_the_outermost_group(files: FakeFiles, lines: tuple[str, ...]) -> None:
    files.own_groups(*lines)
    files.group("", memory_2(1, GIBIBYTE))
    assert Cgroup(files.root).memory(MACHINE) == Memory(1, GIBIBYTE)


def test_a_system_without_control_groups_has_no_limits(tmp_path: Path) -> None:
    cgroup = Cgroup(tmp_path)
    assert (cgroup.memory(MACHINE), cgroup.cpu(4)) == (None, None)
