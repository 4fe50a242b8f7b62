"""The judge of the soak: one scene that holds, and what each fault in it is called."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from faults.soak.judging import Note, Sample, Task, Verdict, judge

START = datetime(2026, 3, 1, tzinfo=UTC)
KILLED = frozenset({7})


def task(number: int, name: str = "quick", state: str = "completed", charged: int = 1, attempt: int = 1) -> Task:
    return Task(number, name, state, charged, START, START + timedelta(seconds=number), attempt)


def note(task_id: int, run: str, pid: int, phase: str, second: float) -> Note:
    return Note(task_id, run, pid, phase, START + timedelta(seconds=second))


TASKS = [task(1), task(2, attempt=2), task(3, "doomed", "failed", 3, 3), task(4, attempt=2)]
NOTES = [
    note(1, "a", 8, "started", 0),
    note(1, "a", 8, "completed", 1),
    note(2, "b", 7, "started", 1),  # killed in the middle
    note(2, "c", 8, "started", 20),
    note(2, "c", 8, "completed", 21),
    note(3, "d", 8, "started", 1),
    note(3, "d", 8, "failed", 1),
    note(4, "e", 7, "started", 2),
    note(4, "e", 7, "completed", 3),  # killed before it was settled
    note(4, "f", 8, "started", 20),
    note(4, "f", 8, "completed", 22),
]
OTHERS = [msgspec.structs.replace(each, pid=9) if each.pid == 7 else each for each in NOTES]
SAMPLES = [Sample(2, 0, {0: 70, 1: 72}), Sample(5, 0, {0: 71, 1: 73})]


def verdict(tasks: list[Task] = TASKS, notes: list[Note] = NOTES, samples: list[Sample] = SAMPLES) -> Verdict:
    return judge(tasks, notes, samples, len(TASKS), KILLED)


def test_a_scene_in_which_all_holds_has_its_figures() -> None:
    found = verdict()
    assert found.broken == []
    assert (found.tasks, found.executions, found.interrupted, found.again, found.doubles) == (4, 6, 1, [19.0], 1)
    assert (found.states, found.most_ready, found.rss) == ({"completed": 3, "failed": 1}, 5, (71, 72))


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"tasks": TASKS[:3]}, "every task has a job: 4 were enqueued, 3 are there"),
        ({"tasks": [task(1, state="running"), *TASKS[1:]]}, "every task has ended"),
        ({"samples": [Sample(0, 1, {})]}, "no lease is overdue while it runs"),
        ({"tasks": [task(1, charged=4), *TASKS[1:]]}, "no task is charged more attempts than it has"),
        ({"notes": NOTES[:1] + NOTES[2:]}, "every completed task has run to its end"),
        ({"notes": NOTES[:3] + NOTES[5:]}, "what was killed has begun again"),
        ({"notes": OTHERS}, "nobody is interrupted who was not killed"),
        ({"notes": OTHERS}, "a task completes twice only where a kill came between"),
        ({"tasks": [task(1, state="failed"), *TASKS[1:]]}, "the doomed fail with all their attempts, and nobody else fails"),
    ],
)  # fmt: skip
def test_each_fault_is_named(changed: dict[str, list[Task] | list[Note] | list[Sample]], rule: str) -> None:
    found = verdict(**changed)  # pyright: ignore[reportArgumentType]
    assert rule in found.broken


def test_an_execution_that_begins_again_too_late_is_named() -> None:
    late = [
        msgspec.structs.replace(each, at=each.at + timedelta(seconds=60)) if each.nonce == "c" else each
        for each in NOTES
    ]
    assert verdict(notes=late).broken == ["it has begun again within 37.5 s"]
