"""Django's own tests of task backends, on `leasehold.django.Backend`: `python tools/django_tests.py [--source DJANGO_SOURCE]`.

Needs Django 6.0 or later, so Python 3.12; the source is that of the installed version, from PyPI if no folder is given. The files
of Django are run as they are, but for the words in WORDS: they name Django's backends, and run on ours instead. For the
immediate backend, which has run a task when `enqueue` returns, a worker runs it then. LEFT_OUT has what asks for something
that only those backends have. Then our own cases of `tests/leasehold/django` run, too.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import django
import psycopg
import trio

from benchmarks.server import open_server
from leasehold.database.migrations import migrate

ROOT = Path(__file__).resolve().parent.parent
FILES = ("test_tasks.py", "test_dummy_backend.py", "test_immediate_backend.py", "test_custom_backend.py", "tasks.py")
CASES = ("enqueueing", "running", "admin")
STAND_INS = "tests.leasehold.django.project.stand_ins"
WORDS = {
    r"django\.tasks\.backends\.dummy\.DummyBackend": f"{STAND_INS}.Kept",
    r"django\.tasks\.backends\.immediate\.ImmediateBackend": f"{STAND_INS}.Immediate",
    r"from django\.tasks\.backends\.dummy import DummyBackend": f"from {STAND_INS} import Kept as DummyBackend",
    r"from django\.tasks\.backends\.immediate import ImmediateBackend": f"from {STAND_INS} import Immediate as ImmediateBackend",
    r"from django\.test import SimpleTestCase, ": f"from {STAND_INS} import SimpleTestCase\nfrom django.test import ",
}
LEFT_OUT = {
    "test_tasks.py": {"test_refresh_result": "changes a result in the memory of the dummy backend"},
    "test_dummy_backend.py": {
        "test_refresh_result": "changes a result in the memory of the dummy backend",
        "test_refresh_result_async": "the same",
    },
    "test_immediate_backend.py": {
        "test_cannot_get_result": "the immediate backend has no results; ours has",
        "test_cannot_refresh_result": "the same",
        "test_cannot_pass_run_after": "the immediate backend takes no run_after; ours does",
        "test_throws_keyboard_interrupt": "the immediate backend is interrupted with its caller; a worker fails the task",
        "test_doesnt_wait_until_transaction_commit_by_default": "it runs a task at once; a worker when it is committed",
    },
}


def main() -> int:
    """Run them; returns the exit code of the first that fails, else 0."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--source", type=Path, help="folder of Django's source; that of the installed version if not given"
    )
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, open_server(None) as server:
        place = Path(folder)
        tests = (chosen.source or _download(place)) / "tests" / "tasks"
        package = place / "tasks"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        for name in FILES:
            (package / name).write_text(rewritten((tests / name).read_text(), name))
        trio.run(migrate, server.dsn)
        codes = [_run(server.dsn, place, f"tasks.{Path(name).stem}") for name in FILES[:-1]]
        codes += [_run(server.dsn, place, f"tests.leasehold.django.project.cases.{name}") for name in CASES]
    return next((code for code in codes if code), 0)


def rewritten(text: str, name: str) -> str:
    """A file of Django's, on our backends, without what is left out."""
    for word, other in WORDS.items():
        text = re.sub(word, other, text)
    for test in LEFT_OUT.get(name, ()):
        text = re.sub(rf"^    ((?:async )?def ){test}\(", rf"    \1left_out_{test}(", text, flags=re.MULTILINE)
    return text


def _run(dsn: str, place: Path, name: str) -> int:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("truncate leasehold.jobs, leasehold.finished_jobs, leasehold.job_events")
    path = os.pathsep.join([str(place), str(ROOT)])
    environment = {**os.environ, "SHOP_DSN": dsn, "PYTHONPATH": path}
    environment.setdefault("DJANGO_SETTINGS_MODULE", "tests.leasehold.django.project.settings")
    sys.stdout.write(f"== {name} on Django {django.get_version()}, Python {sys.version.split()[0]}\n")
    sys.stdout.flush()
    return subprocess.run([sys.executable, "-m", "unittest", name], check=False, env=environment, cwd=ROOT).returncode


def _download(place: Path) -> Path:
    version = django.get_version()
    words = ["download", "--quiet", "--no-deps", "--no-binary", ":all:", f"django=={version}", "--dest", str(place)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    [archive] = place.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(place, filter="data")
    return next(path for path in place.iterdir() if path.is_dir())


if __name__ == "__main__":
    sys.exit(main())
