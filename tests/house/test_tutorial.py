"""docs/tutorial.md: its files are written and its commands are run, in order, in an empty folder."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from tests.house.pages.reading import ROOT, Block, blocks_of
from tests.support.processes import LeaseholdProcess, StartProcess, clean_environment
from tests.support.waiting import PATIENCE

PAGE = ROOT / "docs" / "tutorial.md"
FILE = re.compile(r"# (?P<added>add to )?(?P<name>\w+\.py)\n")
COMMAND = re.compile(r"^(?P<command>.+?)(?: {2,}# (?:prints (?P<prints>.+)|fails: (?P<fails>.+)|.*))?$")


@pytest.mark.acceptance
def test_the_tutorial_does_what_it_says(tmp_path: Path, start_process: StartProcess) -> None:
    service: LeaseholdProcess | None = None
    environ = clean_environment({"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"})
    for block in blocks_of(PAGE):
        if block.language == "python":
            write(block, tmp_path)
        for command, prints, fails in commands(block):
            if fails is not None:
                refuse(command, fails, tmp_path, environ)
            elif command.startswith("leasehold up"):
                service = start_process([*shlex.split(command)[1:], "--port", "0"], environ, cwd=tmp_path)
                service.wait_for_line("leasehold is up")
            elif not command.startswith("pip "):
                run(command, prints, tmp_path, environ)
    assert service is not None
    assert service.terminate() == 0  # and Postgres with it


def write(block: Block, folder: Path) -> None:
    """Write or extend the file that its first line names."""
    named = FILE.match(block.text)
    assert named is not None, f"{PAGE.name}:{block.line} says no file"
    path = folder / named["name"]
    text = f"{path.read_text()}\n\n{block.text[named.end() :]}" if named["added"] else block.text
    path.write_text(text)


def commands(block: Block) -> Iterator[tuple[str, str | None, str | None]]:
    """Each command of a block with what it prints among other things, or how it fails; None where the page does not say."""
    if block.language == "sh":
        for line in block.text.splitlines():
            found = COMMAND.match(line)
            assert found is not None, line
            yield found["command"], found["prints"], found["fails"]


def refuse(command: str, fails: str, folder: Path, environ: dict[str, str]) -> None:
    """Run it; it is refused, as the page says."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environ,
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE * 10,
    )
    assert done.returncode != 0
    assert fails in done.stderr, f"{command}\n{done.stdout}{done.stderr}"


def run(command: str, prints: str | None, folder: Path, environ: dict[str, str]) -> None:
    """Run it, and again until it prints what the page says: a job that was just enqueued may not have run yet."""
    end = monotonic() + PATIENCE
    while True:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environ,
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE * 10,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        if prints is None or prints in done.stdout:
            return
        may_come = command.startswith("leasehold jobs") and monotonic() < end
        assert may_come, f"{command} prints\n{done.stdout}{done.stderr}"
