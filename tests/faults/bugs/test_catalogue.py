"""Each bug is found by the checker, and correct code is not accused in the same scene."""

from __future__ import annotations

from contextlib import closing

import pytest

from faults.bugs.bug import Bug
from faults.bugs.catalogue import BUGS
from faults.bugs.scene import Scene
from faults.checker.judge import judge
from faults.checker.violation import Violation
from faults.history.collecting import install_watch


def play(dsn: str, bug: Bug, *, with_bug: bool) -> list[Violation]:
    """The scene, and what the checker says of it."""
    install_watch(dsn)
    if with_bug:
        bug.put_into(dsn)
    with closing(Scene(dsn)) as scene:
        bug.scene(scene)
        return judge(scene.history())


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_the_checker_finds_the_bug(fresh_database_url: str, bug: Bug) -> None:
    found = play(fresh_database_url, bug, with_bug=True)
    assert {violation.rule for violation in found} & set(bug.rules), [violation.describe() for violation in found]
    assert all(violation.evidence for violation in found)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.scene.__name__)
def test_the_same_scene_without_the_bug_is_in_order(database_url: str, bug: Bug) -> None:
    found = play(database_url, bug, with_bug=False)
    assert found == [], "\n".join(violation.describe() for violation in found)


def test_there_are_enough_of_them() -> None:
    assert len(BUGS) >= 12
