from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parents[3]


def test_what_make_demo_prints_can_be_piped_on(tmp_path: Path) -> None:
    leasehold = tmp_path / "bin" / "leasehold"
    leasehold.parent.mkdir()
    leasehold.write_text("""#!/bin/sh\necho "{\\"command\\": \\"$*\\"}"\n""")
    leasehold.chmod(0o755)
    (tmp_path / ".installed").touch()
    done = subprocess.run(
        ["make", "demo", f"VENV={tmp_path}"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": "/bin:/usr/bin"},
        timeout=PATIENCE,
    )
    assert (done.stdout, done.stderr) == ('{"command": "demo"}\n', "")
