from __future__ import annotations

import logging

import pytest

from leasehold.actors.brake import Brake, BrakeLimits
from leasehold.actors.resources import Reading
from tests.support.machines import FakeClock, FakeResources

LIMITS = BrakeLimits(memory=0.85, cpu=0.90, seconds=10.0)


class Braking:
    """A brake and all that acts on it."""

    def __init__(self, limits: BrakeLimits = LIMITS) -> None:
        self.resources = FakeResources()
        self.clock = FakeClock()
        self.brake = Brake(self.resources, limits, self.clock)
        self.changes = 0
        self.brake.changed = self.changed

    def changed(self) -> None:
        self.changes += 1

    def after(self, seconds: float) -> float:
        """What the brake says so much later."""
        self.clock.now += seconds
        return self.brake.hold_for()


@pytest.fixture
def braking() -> Braking:
    return Braking()


def test_with_enough_memory_and_cpu_nothing_is_held_back(braking: Braking) -> None:
    assert braking.after(0) == 0.0
    assert braking.brake.reason is None


def test_the_machine_is_looked_at_once_a_second_at_the_most(braking: Braking) -> None:
    for _ in range(100):
        braking.after(0.02)
    assert braking.resources.looks <= 3


def test_above_the_limit_the_next_look_holds_for_as_long_as_is_set_and_the_one_after_may_let_go(
    braking: Braking, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    braking.after(0)
    braking.resources.memory = 0.87
    assert braking.after(1.0) == 10.0
    assert braking.brake.reason == "memory 87 % of 2.0 GiB (limit 85 %)"
    braking.resources.memory = 0.5
    assert braking.after(9.0) == 1.0, "not before the time is up"
    assert braking.after(1.0) == 0.0
    assert braking.brake.reason is None
    assert braking.changes == 2
    assert [record.getMessage() for record in caplog.records] == [
        "backing off: memory 87 % of 2.0 GiB (limit 85 %), 10 s",
        "resuming after 10 s: memory 50 % of 2.0 GiB, CPU 0 % of 2 CPUs",
    ]
    assert caplog.records[0].levelno == logging.WARNING


def test_what_lasts_is_said_once(braking: Braking, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    braking.resources.memory = 0.99
    assert braking.after(0) == 10.0
    braking.resources.memory = 0.97
    assert braking.after(10.0) == 10.0
    assert braking.brake.reason == "memory 97 % of 2.0 GiB (limit 85 %)", "the row shows the last measurement"
    assert (len(caplog.records), braking.changes) == (1, 1)


def test_cpu_has_to_be_short_for_a_while(braking: Braking) -> None:
    braking.after(0)
    held: list[bool] = []
    for _ in range(40):
        braking.resources.cpu_seconds += 2.0
        held.append(braking.after(1.0) > 0)
    assert not any(held[:20])
    assert any(held[20:30])


def test_a_limit_of_one_never_holds_back() -> None:
    braking = Braking(BrakeLimits(memory=1.0, cpu=1.0, seconds=10.0))
    braking.resources.memory = 1.0
    assert braking.after(0) == 0.0


def test_a_paused_worker_is_held_until_it_is_resumed_whatever_the_memory(braking: Braking) -> None:
    braking.brake.paused = True
    assert braking.after(0) == float("inf")
    braking.resources.memory = 0.9
    assert braking.after(100.0) == float("inf")
    assert braking.brake.reason is not None
    braking.brake.paused = False
    assert braking.after(1.0) == 9.0


def test_a_heartbeat_reads_anew_what_is_older_than_a_second(braking: Braking) -> None:
    first = braking.brake.load()
    braking.resources.memory = 0.6
    assert braking.brake.load() is first
    braking.clock.now += 1.0
    later = braking.brake.load()
    assert later is not None
    assert later.memory == pytest.approx(0.6)
    assert braking.brake.reason is None


def test_heartbeats_do_not_keep_the_brake_from_looking(braking: Braking) -> None:
    braking.after(0)
    braking.resources.memory = 0.87
    held: list[float] = []
    for _ in range(6):
        braking.clock.now += 0.3
        braking.brake.load()
        held.append(braking.after(0.2))
    assert held[-1] > 0


def test_a_machine_that_does_not_tell_holds_nobody_back(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def read(self) -> Reading:
            raise OSError("no /proc")

    clock = FakeClock()
    brake = Brake(Broken(), LIMITS, clock)
    for _ in range(3):
        assert brake.hold_for() == 0.0
        assert brake.load() is None
        clock.now += 5
    assert [record.getMessage() for record in caplog.records] == [
        "memory and CPU cannot be read, so nothing backs off: no /proc"
    ]
