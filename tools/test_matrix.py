"""The database tests on each Postgres and each Python that this machine has: `make test-matrix`.

Each Postgres is tested with the Python of the virtual environment, and each other Python with the newest Postgres;
`--full` tests every pair. Each other Python gets an environment of its own, `.venv-matrix-3.X`.
"""

# ruff: noqa: T201

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
POSTGRES = ("embedded18", "embedded16", "system15")
TESTS = ("tests/sql", "tests/leasehold", "tests/actors", "tests/notify")
WHICH = "import sys; print('%d.%d' % sys.version_info[:2])"


@dataclass(frozen=True)
class Outcome:
    python: str
    postgres: str
    passed: bool
    seconds: float
    summary: str


def main() -> int:
    """Run the pairs, print the table; 1 if any failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="every Python with every Postgres")
    parser.add_argument("--jobs", default="2", help="processes of pytest (2)")
    options = parser.parse_args()
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    interpreters = find_pythons()
    outcomes: list[Outcome] = []
    for python, postgres in pairs(own, list(interpreters), find_postgres(), full=options.full):
        say(f"--- Python {python}, {postgres}")
        outcomes.append(run(environment(python, interpreters[python]), python, postgres, options.jobs))
    for missing in sorted({*PYTHONS} - {*interpreters}):
        say(f"Python {missing} is not on this machine")
    for missing in sorted({*POSTGRES} - {*find_postgres()}):
        say(f"{missing} is not on this machine")
    print(table(outcomes))
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def pairs(own: str, pythons: list[str], servers: list[str], *, full: bool) -> list[tuple[str, str]]:
    """What to test."""
    if full:
        return [(python, server) for python in pythons for server in servers]
    return [(own, server) for server in servers] + [(python, servers[0]) for python in pythons if python != own]


def find_pythons() -> dict[str, Path]:
    """An interpreter of each version that can make environments, on the path or among those of pyenv."""
    found: dict[str, Path] = {}
    for version in PYTHONS:
        usable = (path for path in candidates(version) if works(path, version))
        path = next(usable, None)
        if path is not None:
            found[version] = path
    return found


def candidates(version: str) -> Iterator[Path]:
    """Where a version may be."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        yield Path(sys.executable)
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield Path(on_path)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/python"), reverse=True)


def works(path: Path, version: str) -> bool:
    """A shim of pyenv is on the path even where its version is not chosen, and then fails."""
    done = subprocess.run([path, "-c", f"import venv, ensurepip; {WHICH}"], check=False, capture_output=True, text=True)
    return done.returncode == 0 and done.stdout.strip() == version


def find_postgres() -> list[str]:
    """The servers that are here, the newest first."""
    return [name for name in POSTGRES if name != "system15" or Path("/usr/lib/postgresql/15/bin/initdb").exists()]


def environment(version: str, interpreter: Path) -> Path:
    """The Python of an environment for the tests; our own is one already."""
    if interpreter == Path(sys.executable):
        return interpreter
    folder = ROOT / f".venv-matrix-{version}"
    stamp = folder / ".installed"
    python = folder / "bin" / "python"
    project = ROOT / "pyproject.toml"
    if not stamp.exists() or stamp.stat().st_mtime < project.stat().st_mtime:
        say(f"installing into {folder.name}")
        subprocess.run([interpreter, "-m", "venv", "--clear", folder], check=True)
        pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
        subprocess.run([*pip, "install", "--editable", f"{ROOT}[dev]"], check=True)
        stamp.touch()
    return python


def run(interpreter: Path, python: str, postgres: str, jobs: str) -> Outcome:
    """The tests on one pair, their output passed on."""
    command = [str(interpreter), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", jobs, "--dist", "loadfile"]
    started = time.monotonic()
    lines: list[str] = []
    environ = {**os.environ, "LEASEHOLD_TEST_POSTGRES": postgres}
    with subprocess.Popen([*command, *TESTS], cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True) as tests:
        assert tests.stdout is not None
        for line in tests.stdout:
            print(line, end="", flush=True)
            lines.append(line.strip("= \n"))
    return Outcome(python, postgres, tests.returncode == 0, time.monotonic() - started, lines[-1] if lines else "")


def table(outcomes: list[Outcome]) -> str:
    """One line for each pair."""
    lines = [f"{'Python':<8}{'Postgres':<12}{'outcome':<9}{'seconds':>7}  what pytest says"]
    lines += [
        f"{o.python:<8}{o.postgres:<12}{'passed' if o.passed else 'FAILED':<9}{o.seconds:>7.0f}  {o.summary}"
        for o in outcomes
    ]
    return "\n".join(lines)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
