"""`manage.py leasehold`: our command line with the settings of a project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.support.processes import clean_environment
from tests.support.waiting import PATIENCE

pytest.importorskip("django")

SETTINGS = "tests.leasehold.django.project.settings"
MAKE = """
import sys
import django
django.setup()
from tests.leasehold.django.project.shop import tasks
from django.db import transaction
with transaction.atomic():
    print(tasks.add.enqueue(40, b=2).id, tasks.count_groups.enqueue().id, tasks.add.using(queue_name="slow").enqueue(1).id)
"""


def environment(dsn: str, **more: str) -> dict[str, str]:
    return clean_environment({"SHOP_DSN": dsn, "DJANGO_SETTINGS_MODULE": SETTINGS, **more})


def run_python(dsn: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=PATIENCE * 4, env=environment(dsn, **more)
    )


def manage(dsn: str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return run_python(dsn, "-m", "django", *words, **more)


@contextmanager
def worker(dsn: str) -> Generator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "django", "leasehold", "run", "worker", "scheduler"]
    process = subprocess.Popen(command, env=environment(dsn), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        assert process.wait(PATIENCE * 4) == 0


def test_a_database_without_our_schema_is_noticed_and_migrated(empty_database_url: str) -> None:
    said = manage(empty_database_url, "check", "--database", "default")
    assert "leasehold.W004" in said.stderr
    assert "run: manage.py leasehold migrate" in said.stderr
    assert manage(empty_database_url, "check").stderr == ""
    migrated = manage(empty_database_url, "leasehold", "migrate")
    assert migrated.returncode == 0, migrated.stderr
    said = manage(empty_database_url, "check", "--database", "default")
    assert (said.returncode, said.stderr) == (0, "")


CALL = """
import os, sys
import django
django.setup()
from django.core.management import CommandError, call_command
before = dict(os.environ), sys.argv
call_command("leasehold", "migrate")
try:
    call_command("leasehold", "jobs", "show", "7")
except CommandError as error:
    print(error)
print(before == (dict(os.environ), sys.argv))
"""


def test_a_program_that_calls_the_command_goes_on(empty_database_url: str) -> None:
    done = run_python(empty_database_url, "-c", CALL)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["leasehold jobs show 7 ended with exit code 3", "True"]


def test_a_task_that_finds_no_schema_says_what_to_run(empty_database_url: str) -> None:
    done = run_python(empty_database_url, "-c", MAKE)
    assert "SchemaOutdated" in done.stderr
    assert "leasehold migrate" in done.stderr


def test_django_makes_no_migration_for_it(fresh_database_url: str) -> None:
    said = manage(fresh_database_url, "makemigrations", "--check", "--dry-run")
    assert (said.returncode, said.stdout) == (0, "No changes detected\n"), said.stderr


def test_a_worker_of_manage_py_runs_what_the_project_enqueues(fresh_database_url: str) -> None:
    assert manage(fresh_database_url, "migrate").returncode == 0
    with worker(fresh_database_url):
        made = run_python(fresh_database_url, "-c", MAKE)
        assert made.returncode == 0, made.stderr
        ids = [int(each) for each in made.stdout.split()]
        outputs = [_output(fresh_database_url, job_id) for job_id in ids]
    assert outputs == [42, 0, 2]


def _output(dsn: str, job_id: int) -> object:
    with psycopg.connect(dsn, autocommit=True) as eye, psycopg.connect(dsn, autocommit=True) as ear:
        ear.execute("listen leasehold")
        for _ in range(int(PATIENCE * 4)):
            row = eye.execute("select state, output, error from leasehold.all_jobs where id = %s", [job_id]).fetchone()
            assert row is not None
            if row[0] in ("completed", "failed"):
                assert row[0] == "completed", row[2]
                return row[1]
            list(ear.notifies(timeout=1, stop_after=1))
    raise AssertionError(f"job {job_id} has not ended")


def test_settings_of_the_project_are_those_of_the_command_line_unless_the_environment_says_otherwise(
    fresh_database_url: str,
) -> None:
    def effective(*words: str, **more: str) -> dict[str, str]:
        said = manage(fresh_database_url, "leasehold", *words, "config", "show", "--output", "json", **more)
        assert said.returncode == 0, said.stderr
        return {each["name"]: each["value"] for each in json.loads(said.stdout)}

    found = effective()
    assert found["app"] == "leasehold.django.worker:app"
    assert (found["slots"], found["queues"]) == ("2", "(all)")  # the backend `other` takes any queue
    assert effective(LEASEHOLD_SLOTS="9")["slots"] == "9"
    assert effective("--backend", "other")["slots"] == "-"


def test_an_unknown_backend_is_refused(fresh_database_url: str) -> None:
    said = manage(fresh_database_url, "leasehold", "--backend=nobody", "status")
    assert said.returncode != 0
    assert "TASKS['nobody'] is no leasehold backend; there are: default, other" in said.stderr


def test_a_backend_that_cannot_work_is_found_by_the_checks_and_their_schema_is_not_looked_for(
    fresh_database_url: str, tmp_path: Path
) -> None:
    lite = '{"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}'
    (tmp_path / "lite.py").write_text(f"from {SETTINGS} import *\nDATABASES = {lite}\n")
    (tmp_path / "wrong.py").write_text(f"from {SETTINGS} import *\nTASKS['default']['OPTIONS'] = {{'slots': 3}}\n")
    path = {"PYTHONPATH": f"{tmp_path}:{os.getcwd()}"}
    for name, code in (("lite", "leasehold.E003"), ("wrong", "leasehold.E001")):
        for words in (["check"], ["check", "--database", "default"]):
            said = manage(fresh_database_url, *words, DJANGO_SETTINGS_MODULE=name, **path)
            assert code in said.stderr, said.stderr
            assert "Traceback" not in said.stderr
