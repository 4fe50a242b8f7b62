from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.support.waiting import PATIENCE

WRONG = sorted(Path(__file__).parent.glob("wrong_*.py"))


@pytest.mark.timeout(PATIENCE * 5)  # a program that takes seconds of its own
def test_the_type_checker_refuses_what_is_wrong_and_accepts_what_is_right(tmp_path: Path) -> None:
    expected = {
        (path.name, number, found[1])
        for path in WRONG
        for number, line in enumerate(path.read_text().splitlines())
        if (found := re.search(r"# refused: (\w+)", line))
    }
    for path in WRONG:
        shutil.copy(path, tmp_path)  # the project's own settings leave these files out
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson", str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE * 4, cwd=tmp_path)
    report = msgspec.json.decode(done.stdout)
    found = {
        (Path(each["file"]).name, each["range"]["start"]["line"], each["rule"]) for each in report["generalDiagnostics"]
    }
    assert found == expected, report
