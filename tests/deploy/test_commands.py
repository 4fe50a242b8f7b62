"""Every command and variable that the deploy files name exists: our own command line is asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leasehold.cli.runtime.services import Services
from leasehold.errors import LeaseholdError
from leasehold.settings import Settings
from leasehold.settings.sources import CONFIG_VARIABLE, environment_name
from tests.deploy import files
from tests.deploy.files import DEPLOY, ROOT, Started
from tests.leasehold.cli.conftest import Cli, run_cli

__all__ = ["run_cli"]

PAGES = [ROOT / "docs/operate.md", *sorted(DEPLOY.rglob("README.md"))]
OTHERS = {ROOT / "README.md", *(ROOT / "docs").glob("*.md")} - {*PAGES, ROOT / "docs" / "cli.md"}
"""Pages of which only the blocks are read; docs/cli.md has the examples of the commands, which have a test of their own."""
NAMED_FILES = [path for path in sorted(DEPLOY.rglob("*")) if path.is_file()] + [
    ROOT / "docs/operate.md",
    ROOT / "Procfile",
]
REACHED = "reached the database"


class Reached(LeaseholdError):
    """What the command line would now do; its words were understood and its settings accepted."""


class Border(Services):
    """Stops every command where it would begin to work."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_"):
            return super().__getattribute__(name)
        raise Reached(REACHED)


def every_command() -> list[Started]:
    found = [*files.from_systemd(), *files.from_dockerfile(), *files.from_compose(), *files.from_procfile()]
    found += files.from_kubernetes(files.manifests())
    found += [each for page in sorted(OTHERS) for each in files.from_page(page, in_text=False)]
    return [*found, *(each for page in PAGES for each in files.from_page(page))]


def name_of(started: Started) -> str:
    return re.sub(r"[^\w.@-]+", "-", f"{started.source}-{'-'.join(started.words)}")[:90]


def test_its_words_and_its_environment_are_understood(
    run_cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for started in every_command():
        if "names.json" in started.words:
            monkeypatch.chdir(tmp_path)
            (tmp_path / "names.json").write_text("{}")
        environ = {name: value for name, value in started.environ.items() if name != "LEASEHOLD_APP"}
        words = re.sub(r"--app\0[^\0]+\0?", "", "\0".join(started.words)).rstrip("\0").split("\0")
        # `up` refuses a port that is taken, and this machine may have a gateway of its own.
        environ = {"LEASEHOLD_GATEWAY_PORT": "0", **environ} if started.words[0] == "up" else environ
        done = run_cli(*words, environ=environ, services=Border())
        assert done.code == 0 or REACHED in done.out + done.err, done.err


@pytest.mark.parametrize("started", files.from_kubernetes(files.manifests()), ids=name_of)
def test_a_pod_starts_with_the_variables_of_our_own_services(started: Started, run_cli: Cli) -> None:
    injected = files.variables_of_services(files.manifests())
    assert {"LEASEHOLD_GATEWAY_PORT", "LEASEHOLD_PGBOUNCER_SERVICE_HOST"} <= set(injected)
    done = run_cli(*started.words, environ={**injected, **started.environ}, services=Border())
    assert REACHED in done.out + done.err, done.err


def test_every_page_with_commands_is_read() -> None:
    assert len(every_command()) > 40


def test_every_variable_that_is_named_is_a_setting() -> None:
    for path in NAMED_FILES:
        known = {environment_name(name) for name in Settings.__struct_fields__} | {CONFIG_VARIABLE}
        named = set(re.findall(r"\bLEASEHOLD_[A-Z_]*[A-Z]\b", path.read_text()))
        assert named - known == set()


def test_a_command_that_does_not_exist_would_be_found(run_cli: Cli) -> None:
    for words in (["run", "janitor"], ["gateway", "--prot", "1"], ["migrat"]):
        assert run_cli(*words, environ={"LEASEHOLD_DATABASE_URL": files.DSN}, services=Border()).code == 2


Source = Callable[[], list[Started]]


@pytest.mark.parametrize("source", [files.from_systemd, files.from_compose, files.from_procfile])
def test_each_way_to_run_it_has_every_process(source: Source) -> None:
    words = {word for each in source() for word in each.words}
    assert {"gateway", "worker", "scheduler", "reaper"} <= words
