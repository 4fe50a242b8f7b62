from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Literal, cast

import pytest

from leasehold.actors.identity import WorkerMode
from leasehold.actors.running.slot import Roster
from leasehold.actors.worker.backpressure import BackoffState, Backpressure, BackpressureLimits, decide
from leasehold.actors.worker.machine import Load, Reading
from tests.support.machines import FakeClock, FakeResources

LIMITS = BackpressureLimits(memory=0.85, cpu=0.90, seconds=10.0)


class Loaded:
    """The backpressure of a worker, and all that acts on it."""

    def __init__(self, limits: BackpressureLimits = LIMITS, read: Callable[[], Reading] | None = None) -> None:
        self.resources = FakeResources()
        self.clock = FakeClock()
        self.is_busy = False
        self.begun = 0
        self.changes = 0
        self.mode = WorkerMode(1)
        roster = cast("Roster", self)
        self.backpressure = Backpressure(
            read or self.resources.read, limits, self.mode, roster, self.changed, self.clock
        )

    def changed(self) -> None:
        self.changes += 1

    def after(self, seconds: float) -> float:
        """What it says so much later."""
        self.clock.now += seconds
        return self.backpressure.back_off_for()

    def after_busy(self, seconds: float) -> float:
        """The same, while the machine used all of its CPU."""
        self.resources.cpu_seconds += 2.0 * seconds
        return self.after(seconds)

    def until_held(self) -> float:
        """What it says when the CPU has been busy for long enough."""
        self.after(0)
        while not (held := self.after_busy(1.0)):
            pass
        return held


@pytest.fixture
def loaded() -> Loaded:
    return Loaded()


def test_with_enough_memory_and_cpu_nothing_is_held_back(loaded: Loaded) -> None:
    assert loaded.after(0) == 0.0
    assert loaded.backpressure.reason is None


def test_the_machine_is_looked_at_once_a_second_at_the_most(loaded: Loaded) -> None:
    for _ in range(100):
        loaded.after(0.02)
    assert loaded.resources.looks <= 3


def test_above_the_limit_the_next_look_holds_for_as_long_as_is_set_and_the_one_after_may_let_go(
    loaded: Loaded, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    loaded.after(0)
    loaded.resources.memory = 0.87
    assert loaded.after(1.0) == 10.0
    assert loaded.backpressure.reason == "memory 87 % of 2.0 GiB (limit 85 %)"
    loaded.resources.memory = 0.5
    assert loaded.after(9.0) == 1.0, "not before the time is up"
    assert loaded.after(1.0) == 0.0
    assert loaded.backpressure.reason is None
    assert loaded.changes == 2
    assert [record.getMessage() for record in caplog.records] == [
        "backing off: memory 87 % of 2.0 GiB (limit 85 %), 10 s",
        "resuming after 10 s: memory 50 % of 2.0 GiB, CPU 0 % of 2 CPUs",
    ]
    assert caplog.records[0].levelno == logging.WARNING


def test_what_lasts_is_said_once(loaded: Loaded, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    loaded.resources.memory = 0.99
    assert loaded.after(0) == 10.0
    loaded.resources.memory = 0.97
    assert loaded.after(10.0) == 10.0
    assert loaded.backpressure.reason == "memory 97 % of 2.0 GiB (limit 85 %)", "the row shows the last measurement"
    assert (len(caplog.records), loaded.changes) == (1, 1)


def test_cpu_has_to_be_short_for_a_while(loaded: Loaded) -> None:
    loaded.after(0)
    held: list[bool] = []
    for _ in range(40):
        loaded.resources.cpu_seconds += 2.0
        held.append(loaded.after(1.0) > 0)
    assert not any(held[:20])
    assert any(held[20:30])


def test_a_limit_of_one_never_holds_back() -> None:
    loaded = Loaded(BackpressureLimits(memory=1.0, cpu=1.0, seconds=10.0))
    loaded.resources.memory = 1.0
    assert loaded.after(0) == 0.0


def test_a_paused_worker_is_held_until_it_is_resumed_whatever_the_memory(loaded: Loaded) -> None:
    loaded.mode.set_paused(True)
    assert loaded.after(0) == float("inf")
    loaded.resources.memory = 0.9
    assert loaded.after(100.0) == float("inf")
    assert loaded.backpressure.reason is not None
    loaded.mode.set_paused(False)
    assert loaded.after(1.0) == 9.0


def test_a_heartbeat_reads_anew_what_is_older_than_a_second(loaded: Loaded) -> None:
    first = loaded.backpressure.load()
    loaded.resources.memory = 0.6
    assert loaded.backpressure.load() is first
    loaded.clock.now += 1.0
    later = loaded.backpressure.load()
    assert later is not None
    assert later.memory == pytest.approx(0.6)
    assert loaded.backpressure.reason is None


def test_heartbeats_do_not_keep_it_from_judging(loaded: Loaded) -> None:
    loaded.after(0)
    loaded.resources.memory = 0.87
    held: list[float] = []
    for _ in range(6):
        loaded.clock.now += 0.3
        loaded.backpressure.load()
        held.append(loaded.after(0.2))
    assert held[-1] > 0


def test_a_machine_that_does_not_tell_holds_nobody_back(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> Reading:
        raise OSError("no /proc")

    loaded = Loaded(read=broken)
    for _ in range(3):
        assert loaded.backpressure.back_off_for() == 0.0
        assert loaded.backpressure.load() is None
        loaded.clock.now += 5
    assert [record.getMessage() for record in caplog.records] == [
        "memory and CPU cannot be read, so nothing backs off: no /proc"
    ]


def test_cpu_alone_holds_an_idle_worker_for_one_back_off_and_no_longer(
    loaded: Loaded, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    assert loaded.until_held() == 10.0
    assert loaded.after_busy(9.0) == 1.0
    assert [loaded.after_busy(1.0) for _ in range(60)] == [0.0] * 60
    assert (loaded.backpressure.reason, loaded.changes) == (None, 2)
    assert [record.getMessage() for record in caplog.records] == [
        "backing off: CPU 91 % of 2 CPUs (limit 90 %), 10 s",
        "claiming all the same: CPU 97 % of 2 CPUs, but this worker runs nothing",
    ]


def test_once_it_runs_jobs_again_busy_cpu_holds_it_again_and_after_their_end_it_goes_on(loaded: Loaded) -> None:
    loaded.until_held()
    for _ in range(3):
        assert loaded.after_busy(10.0) == 0.0
        loaded.begun, loaded.is_busy = loaded.begun + 1, True
        assert loaded.after_busy(0.5) == 0.0, "the machine is looked at once a second at the most"
        assert loaded.after_busy(0.5) == 10.0
        assert loaded.after_busy(10.0) == 10.0, "it still runs what it has begun"
        loaded.is_busy = False


def test_jobs_that_ran_between_two_looks_count(loaded: Loaded) -> None:
    loaded.until_held()
    assert loaded.after_busy(10.0) == 0.0
    loaded.begun += 1
    assert loaded.after_busy(1.5) == 10.0
    assert loaded.after_busy(10.0) == 0.0


def test_a_worker_whose_jobs_keep_running_is_held_for_as_long_as_the_cpu_is_busy(loaded: Loaded) -> None:
    loaded.begun, loaded.is_busy = 1, True
    loaded.until_held()
    assert [loaded.after_busy(10.0) for _ in range(6)] == [10.0] * 6


def test_memory_holds_an_idle_worker_for_as_long_as_it_is_short_and_so_do_memory_and_cpu(loaded: Loaded) -> None:
    loaded.until_held()
    loaded.resources.memory = 0.9
    assert [loaded.after_busy(10.0) for _ in range(6)] == [10.0] * 6
    assert loaded.backpressure.reason == "memory 90 % of 2.0 GiB (limit 85 %), CPU 100 % of 2 CPUs (limit 90 %)"
    loaded.resources.memory = 0.5
    assert loaded.after_busy(10.0) == 0.0, "CPU alone has held it for long enough"
    loaded.resources.memory = 0.9
    assert loaded.after_busy(1.0) == 10.0


def test_a_worker_that_was_excused_is_held_anew_when_the_cpu_has_been_free_in_between(loaded: Loaded) -> None:
    loaded.until_held()
    assert loaded.after_busy(10.0) == 0.0
    assert loaded.after(60.0) == 0.0
    assert loaded.until_held() == 10.0


def test_a_paused_worker_is_not_excused_before_it_is_resumed(loaded: Loaded) -> None:
    loaded.until_held()
    loaded.mode.set_paused(True)
    assert loaded.after_busy(10.0) == float("inf")
    assert loaded.backpressure.reason is not None
    loaded.mode.set_paused(False)
    assert loaded.after_busy(10.0) == 0.0


@pytest.mark.parametrize(
    ("was", "memory", "cpu", "is_idle", "mode"),
    [
        ("free", 0.5, 0.5, False, "free"),
        ("free", 0.5, 0.95, True, "backing off"),
        ("free", 0.9, 0.5, True, "backing off"),
        ("backing off", 0.5, 0.5, False, "free"),
        ("backing off", 0.5, 0.95, False, "backing off"),
        ("backing off", 0.5, 0.95, True, "excused"),
        ("backing off", 0.9, 0.5, True, "backing off"),
        ("backing off", 0.9, 0.95, True, "backing off"),
        ("excused", 0.5, 0.5, True, "free"),
        ("excused", 0.5, 0.95, True, "excused"),
        ("excused", 0.5, 0.95, False, "backing off"),
        ("excused", 0.9, 0.95, True, "backing off"),
    ],
)
def test_what_is_decided_follows_from_the_load_the_idleness_and_what_was_decided_before(
    was: Literal["free", "backing off", "excused"], memory: float, cpu: float, is_idle: bool, mode: str
) -> None:
    load = Load(memory=memory, memory_limit=2**31, cpu=cpu, cpu_limit=2.0)
    before = BackoffState(was, "CPU" if was == "backing off" else None, 80.0, 100.0 if was == "backing off" else 0.0)
    now = decide(before, load, LIMITS, 100.0, is_idle=is_idle)
    assert now.mode == mode
    assert (now.reason is not None, now.until) == ((True, 110.0) if mode == "backing off" else (False, 0.0))
    assert decide(before, load, LIMITS, 99.0, is_idle=is_idle) == before or was != "backing off"


def test_a_reading_that_fails_lets_go_of_a_worker_that_is_held() -> None:
    assert decide(BackoffState("backing off", "CPU", 80.0, 100.0), None, LIMITS, 100.0, is_idle=False) == BackoffState()
