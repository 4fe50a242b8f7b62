"""Bugs in Python are found as well, with a real worker."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.server import ROOT
from faults.bugs.code import CODE_BUGS, CodeBug, play_with_worker
from faults.bugs.scene import Scene
from faults.checker.judge import judge
from faults.checker.violation import Violation
from faults.history.collecting import install_watch


def play(dsn: str, bug: CodeBug, source: Path) -> list[Violation]:
    install_watch(dsn)
    with closing(Scene(dsn)) as scene:
        play_with_worker(scene, bug, source)
        return judge(scene.history())


@pytest.mark.parametrize("bug", CODE_BUGS, ids=lambda bug: bug.name)
def test_the_checker_finds_the_bug(fresh_database_url: str, tmp_path: Path, bug: CodeBug) -> None:
    found = play(fresh_database_url, bug, bug.copy_into(tmp_path))
    assert {violation.rule for violation in found} & set(bug.rules), [violation.describe() for violation in found]


@pytest.mark.parametrize("bug", CODE_BUGS, ids=lambda bug: bug.kind)
def test_the_same_scene_without_the_bug_is_in_order(fresh_database_url: str, bug: CodeBug) -> None:
    found = play(fresh_database_url, bug, ROOT / "src")
    assert found == [], "\n".join(violation.describe() for violation in found)
