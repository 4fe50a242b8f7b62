"""The pages for frameworks: their files are written to a folder, their commands run, and their requests answered as they say."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import psycopg.conninfo
import pytest

from benchmarks.processes import free_port
from tests.support.processes import clean_environment
from tests.support.waiting import PATIENCE, until

RECIPES = Path(__file__).parents[2] / "docs" / "recipes"
FILE = re.compile(r"^```python\n# (\S+\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FOR_EVER = (
    "uvicorn ",
    "flask --app shop run ",
    "python manage.py runserver ",
    "leasehold run ",
    "python manage.py leasehold run ",
)
NOT_HERE = ("pip install", "export")
PAGES = sorted(path.name for path in RECIPES.glob("*.md") if path.name != "README.md")


class Page:
    """A page in a folder of its own, on a database of its own."""

    def __init__(self, name: str, folder: Path, dsn: str) -> None:
        text = (RECIPES / name).read_text()
        for file, content in FILE.findall(text):
            path = folder / file
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
        self.port = free_port()
        self.lines = [
            line.replace("8000", str(self.port))
            for block in COMMANDS.findall(text)
            for line in block.splitlines()
            if not line.startswith(NOT_HERE)
        ]
        self._folder = folder
        self._environment = environment(dsn)
        self._running: list[subprocess.Popen[bytes]] = []

    def run(self, command: str) -> str:
        """What a command prints that ends by itself."""
        done = subprocess.run(
            shlex.split(command),
            check=False,
            capture_output=True,
            text=True,
            cwd=self._folder,
            env=self._environment,
            timeout=PATIENCE * 4,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def start(self, command: str) -> None:
        """Start what goes on until the end of the test."""
        log = (self._folder / f"{len(self._running)}.log").open("wb")
        with log:
            made = subprocess.Popen(
                shlex.split(command),
                cwd=self._folder,
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._running.append(made)

    def stop(self) -> None:
        """End all of it, and print what it said for the report of a failed test."""
        for process in self._running:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for log in self._folder.glob("*.log"):
            print(f"--- {log.name}\n{log.read_text()}")


def environment(dsn: str) -> dict[str, str]:
    """The database by each of the ways in which the pages name it."""
    place = psycopg.conninfo.conninfo_to_dict(dsn)
    names: Mapping[str, str] = {"PGDATABASE": "dbname", "PGUSER": "user", "PGHOST": "host", "PGPORT": "port"}
    parts = {name: str(place[key]) for name, key in names.items() if place.get(key)}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return clean_environment({**parts, "DATABASE_URL": dsn, "PATH": path, "LEASEHOLD_LOG_FORMAT": "text"})


@pytest.fixture
def page(request: pytest.FixtureRequest, tmp_path: Path, empty_database_url: str) -> Generator[Page]:
    made = Page(request.param, tmp_path, empty_database_url)
    try:
        yield made
    finally:
        made.stop()


@pytest.mark.parametrize("page", PAGES, indirect=True)
async def test_the_page_does_what_it_says(page: Page) -> None:
    requests = 0
    for line in page.lines:
        command, _, expected = (part.strip() for part in line.partition("#"))
        if command.startswith("curl "):
            requests += 1
            await answered(command, json.loads(expected))
        elif command == "leasehold jobs show 1":
            assert 'state completed, output "teapot"' in expected
            await until(lambda: _job(page) == ("completed", "teapot"), PATIENCE * 4)
        elif command.startswith(FOR_EVER):
            page.start(command)
        else:
            said = page.run(command)
            assert not expected or said.strip() == expected
    assert page.lines
    assert requests == (0 if any("jobs show" in line for line in page.lines) else 2)


def _job(page: Page) -> tuple[str, object]:
    [job] = [json.loads(page.run("leasehold jobs show 1 --output json"))]
    shown = job.get("job", job)
    return shown["state"], shown["output"]


async def answered(curl: str, expected: object) -> None:
    """The request of this command is answered so. A page that shows what a worker does may need a while until it does."""
    words = shlex.split(curl)
    method = words[words.index("-X") + 1] if "-X" in words else "GET"
    answers: list[object] = []

    def is_so() -> bool:
        try:
            with urlopen(Request(f"http://{words[-1]}", method=method)) as answer:
                answers.append(json.loads(answer.read()))
        except URLError as error:
            if isinstance(error.reason, ConnectionRefusedError):
                return False
            raise
        return method == "POST" or answers[-1] == expected

    await until(is_so, PATIENCE * 4)
    assert answers[-1] == expected
