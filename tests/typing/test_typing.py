"""What both type checkers say of our own signatures, of a user's code, and of the snippets of docs/sync.md. One run of each."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.house.test_sync_page import PAGE, SNIPPET
from tests.support.waiting import PATIENCE

HERE = Path(__file__).parent
WRONG = sorted(HERE.glob("wrong_*.py"))

pytestmark = pytest.mark.timeout(PATIENCE * 5)  # a program that takes seconds of its own


def checked_by(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command], check=False, capture_output=True, text=True, timeout=PATIENCE * 4, cwd=folder
    )


def test_pyright_refuses_what_is_wrong_and_accepts_what_is_right(tmp_path: Path) -> None:
    expected = {
        (path.name, number, found[1])
        for path in WRONG
        for number, line in enumerate(path.read_text().splitlines())
        if (found := re.search(r"# refused: (\w+)", line))
    }
    for path in WRONG:
        shutil.copy(path, tmp_path)  # the project's own settings leave these files out
    # To pyright, Django without stubs is wrong from end to end.
    snippets = ["# pyright: strict", *(each for each in SNIPPET.findall(PAGE.read_text()) if "django" not in each)]
    (tmp_path / "snippets.py").write_text("\n\n".join(snippets))
    done = checked_by("pyright", "--pythonpath", sys.executable, "--outputjson", str(tmp_path), folder=tmp_path)
    report = msgspec.json.decode(done.stdout)
    assert report["summary"]["filesAnalyzed"] == len(WRONG) + 1
    found = {
        (Path(each["file"]).name, each["range"]["start"]["line"], each["rule"]) for each in report["generalDiagnostics"]
    }
    assert found == expected, report


def test_mypy_strict_accepts_a_users_app_our_examples_and_our_snippets(tmp_path: Path) -> None:
    snippets = tmp_path / "snippets.py"
    text = ['# mypy: disable-error-code="import-untyped"', *SNIPPET.findall(PAGE.read_text())]
    snippets.write_text("\n\n".join(text))
    places = [str(HERE / "right_user.py"), "examples", str(snippets)]
    done = checked_by("mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), *places, folder=HERE.parents[1])
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
