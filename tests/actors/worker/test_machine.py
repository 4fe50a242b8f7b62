from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from leasehold.actors.worker.machine import (
    Cpu,
    Load,
    Memory,
    Meter,
    Reading,
    Resources,
    describe_load,
    find_strain,
    read_machine,
)
from tests.support.machines import GIBIBYTE, FakeFiles, fake_machine
from tests.support.waiting import PATIENCE


def reading(cpu_seconds: float, limit: float = 2.0) -> Reading:
    return Reading(Memory(GIBIBYTE, 2 * GIBIBYTE), Cpu(cpu_seconds, limit))


def load(memory: float = 0.5, cpu: float = 0.5, cpu_limit: float = 2.0) -> Load:
    return Load(memory=memory, memory_limit=2 * GIBIBYTE, cpu=cpu, cpu_limit=cpu_limit)


def test_where_a_container_has_a_limit_its_use_counts_else_that_of_the_machine(tmp_path: Path) -> None:
    files = FakeFiles(tmp_path)
    files.own_groups("0::/")
    files.group("", {"memory.max": GIBIBYTE, "memory.current": 5, "memory.stat": "", "cpu.max": "max 100000"})
    found = Resources(tmp_path, fake_machine).read()
    assert found == Reading(Memory(5, GIBIBYTE), Cpu(100.0, 4.0))


def test_this_machine_can_be_read() -> None:
    machine = read_machine()
    assert 0 < machine.memory.used < machine.memory.limit
    assert machine.cpu.seconds > 0
    assert machine.cpu.limit >= 1
    assert 0 < Resources().read().memory.share < 1


def test_without_a_limit_only_the_cpu_of_this_process_and_its_children_counts() -> None:
    burn = "import sys, time\nwhile time.process_time() < 0.5: pass\nprint(flush=True); sys.stdin.read()"
    before = read_machine().cpu.seconds
    with subprocess.Popen([sys.executable, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert read_machine().cpu.seconds - before >= 0.4
        child.communicate(timeout=PATIENCE)
    assert read_machine().cpu.seconds - before >= 0.4
    read = read_machine().cpu.seconds
    used = sum(psutil.Process().cpu_times()[:4])
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            used += sum(each.cpu_times()[:4])
    assert read < used + 1


def test_cpu_is_what_was_used_between_two_readings_and_smoothed() -> None:
    meter = Meter()
    assert meter.add(reading(100.0), 0.0).cpu == 0.0
    shares = [meter.add(reading(100.0 + 2.0 * second), float(second)).cpu for second in range(1, 61)]
    assert shares == sorted(shares)
    assert shares[0] < 0.1
    assert 0.5 < shares[9] < 0.9 < shares[-1] <= 1.0
    assert meter.add(reading(220.0), 90.0).cpu < 0.1


def test_one_long_span_counts_as_many_short_ones() -> None:
    short, long = Meter(), Meter()
    by_steps = [short.add(reading(2.0 * second), float(second)).cpu for second in range(21)][-1]
    long.add(reading(0.0), 0.0)
    assert long.add(reading(40.0), 20.0).cpu == pytest.approx(by_steps)


def test_readings_that_make_no_sense_do_no_harm() -> None:
    meter = Meter()
    meter.add(reading(100.0), 0.0)
    assert meter.add(reading(50.0), 10.0).cpu == 0.0, "a counter that went back"
    assert meter.add(reading(5000.0), 10.0).cpu == 0.0, "no time between the two"
    assert meter.add(reading(9000.0), 11.0).cpu <= 1.0, "more than there is"
    assert meter.add(reading(9e9, limit=1.0), 12.0).cpu <= 1.0, "another limit"


@pytest.mark.parametrize(
    ("now", "strain"),
    [
        (load(), None),
        (load(memory=0.85, cpu=0.90), None),
        (load(memory=0.87), "memory 87 % of 2.0 GiB (limit 85 %)"),
        (load(cpu=0.95), "CPU 95 % of 2 CPUs (limit 90 %)"),
        (
            load(memory=1.2, cpu=0.95, cpu_limit=1.0),
            "memory 120 % of 2.0 GiB (limit 85 %), CPU 95 % of 1 CPU (limit 90 %)",
        ),
    ],
)
def test_strain_is_told_with_what_was_measured(now: Load, strain: str | None) -> None:
    assert find_strain(now, 0.85, 0.90) == strain


def test_a_limit_of_one_is_none() -> None:
    assert find_strain(load(memory=1.0, cpu=1.0), 1.0, 1.0) is None


def test_a_load_in_words() -> None:
    assert describe_load(load(memory=0.61, cpu_limit=1.5)) == "memory 61 % of 2.0 GiB, CPU 50 % of 1.5 CPUs"
