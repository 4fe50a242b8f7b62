from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import trio

from leasehold.cli.up.processes import Supervisor
from leasehold.cli.up.reload import Reloader, describe, differences, look
from tests.leasehold.cli.conftest import Cli
from tests.leasehold.cli.up.test_processes import GREET_AND_WAIT, Screen, child
from tests.support.folders import short_folder
from tests.support.processes import LeaseholdProcess, StartProcess

SHOP = "from leasehold import App\n\napp = App()\n\n\n@app.kind()\ndef greet() -> str:\n    return {}\n"


def test_python_files_and_the_settings_are_watched_and_virtual_environments_are_not(tmp_path: Path) -> None:
    for name in (
        "shop.py",
        "jobs/mail.py",
        "leasehold.toml",
        "venv/lib/x.py",
        "venv/pyvenv.cfg",
        ".git/y.py",
        "notes.txt",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    seen = look([tmp_path])
    assert {os.path.relpath(path, tmp_path) for path in seen} == {"shop.py", "jobs/mail.py", "leasehold.toml"}


def test_what_was_added_changed_or_removed_is_a_difference(tmp_path: Path) -> None:
    before = {"/a.py": (1, 5), "/b.py": (1, 5), "/c.py": (1, 5)}
    after = {"/a.py": (1, 5), "/b.py": (1, 6), "/d.py": (2, 5)}
    assert differences(before, after) == ["/b.py", "/c.py", "/d.py"]
    assert describe([f"/{name}.py" for name in "abcde"]) == "/a.py, /b.py, /c.py and 2 more"


async def test_a_change_starts_the_named_processes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    screen, asked = Screen(), list[list[str]]()
    reloader = Reloader(None, screen.show)
    await trio.Path("shop.py").write_text("1")

    async def restart(names: Any) -> None:
        asked.append(sorted(names))
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(reloader.run, ["worker.1", "gateway"], restart)
    assert asked == [["gateway", "worker.1"]]
    assert screen.lines == [("up", "shop.py changed; starting gateway, worker.1 again")]


async def test_processes_that_are_started_again_were_no_deaths() -> None:
    screen = Screen()
    supervised = Supervisor([child("a", GREET_AND_WAIT), child("b", GREET_AND_WAIT)], screen.show, reloads=True)

    async def restart() -> None:
        await screen.until("b", "ready")
        for count in range(1, 4):
            await screen.until("a", "ready", count)
            await supervised.restart(["a"])
        await screen.until("a", "ready", 4)
        supervised.stop()

    assert await supervised.run(restart) == 0
    assert [line for line in screen.lines if line[0] != "a"] == [("b", "ready")]


async def test_where_code_is_being_written_a_process_that_cannot_run_waits_for_the_next_change() -> None:
    screen = Screen()
    supervised = Supervisor([child("a", "import sys; sys.exit(2)")], screen.show, reloads=True)
    told = "a cannot run (exit code 2); it is started again when a file changes"

    async def change() -> None:
        await screen.until("up", told)
        await supervised.restart(["a"])
        await screen.until("up", told, 2)
        supervised.stop()

    assert await supervised.run(change) == 0
    assert screen.levels[told] == "error"


def answer(run_cli: Cli, environ: dict[str, str]) -> object:
    """What the code of just now answers."""
    job = run_cli("enqueue", "greet", "--output", "json", environ=environ).json()["job_id"]
    ended = run_cli("chains", "wait", str(job), "--timeout", "30s", "--output", "json", environ=environ)
    return ended.json()["output"]


def change(process: LeaseholdProcess, file: Path, text: str, line: str) -> None:
    seen = process.line_count
    file.write_text(SHOP.format(text))
    process.wait_for_line("shop.py changed; starting gateway, scheduler, worker.1 again", after=seen)
    process.wait_for_line(line, after=seen)


@pytest.mark.acceptance
def test_changed_code_runs_and_broken_code_waits_until_it_is_mended(start_process: StartProcess, run_cli: Cli) -> None:
    with short_folder() as folder:
        file = folder / "shop.py"
        file.write_text(SHOP.format("'one'"))
        environ = {"LEASEHOLD_DATA_FOLDER": str(folder / "data"), "LEASEHOLD_GATEWAY_PORT": "0"}
        process = start_process(["up", "--app", "shop:app", "--reload", "--log-format", "text"], environ, cwd=folder)
        process.wait_for_line("leasehold is up")
        assert answer(run_cli, environ) == "one"
        change(process, file, "'the second'", "starting worker")
        assert answer(run_cli, environ) == "the second"
        change(process, file, "'broken", "worker.1 cannot run (exit code 2)")
        change(process, file, "'mended'", "starting worker")
        assert answer(run_cli, environ) == "mended"
        assert process.terminate() == 0
