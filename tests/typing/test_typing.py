from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec

WRONG_CALLS = Path(__file__).parent / "wrong_calls.py"


def test_the_type_checker_refuses_wrong_args_at_the_call_and_accepts_right_ones(tmp_path: Path) -> None:
    expected = {
        (number, found[1])
        for number, line in enumerate(WRONG_CALLS.read_text().splitlines())
        if (found := re.search(r"# refused: (\w+)", line))
    }
    copy = shutil.copy(WRONG_CALLS, tmp_path)  # the project's own settings leave this file out
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson", str(copy)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    report = msgspec.json.decode(done.stdout)
    found = {(each["range"]["start"]["line"], each["rule"]) for each in report["generalDiagnostics"]}
    assert found == expected, report
