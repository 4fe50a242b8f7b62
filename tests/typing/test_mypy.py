from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import PATIENCE

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


@pytest.mark.timeout(PATIENCE * 5)  # a program that takes seconds of its own
def test_mypy_strict_accepts_a_users_app_and_our_examples(tmp_path: Path) -> None:
    places = [str(HERE / "right_user.py"), "examples"]
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), *places]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE * 4)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
