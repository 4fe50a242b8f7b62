""".github/workflows: what runs on a push, and what publishes a release."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from typing import Any

import pytest

from tests.deploy.files import ROOT, documents
from tests.support.waiting import PATIENCE

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = {
    each.split(" :: ")[-1] for each in PROJECT["classifiers"] if each.startswith("Programming Language :: Python :: 3.")
}


def workflow(name: str) -> dict[str, Any]:
    (found,) = documents(ROOT / ".github" / "workflows" / name)
    return found


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_github_understands_each_workflow(path: Any) -> None:
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(path)]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=PATIENCE * 2)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_push_runs_what_everybody_runs_on_each_python_that_is_promised() -> None:
    job = workflow("ci.yml")["jobs"]["test"]
    assert job["steps"][-1] == {"run": ".ci/run"}
    assert set(job["strategy"]["matrix"]["python"]) == PYTHONS


def test_only_the_job_that_publishes_may_ask_for_an_identity_and_it_builds_nothing() -> None:
    jobs = workflow("release.yml")["jobs"]
    assert jobs["build"]["permissions"] == {"contents": "read"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert not any("checkout" in step.get("uses", "") for step in jobs["publish"]["steps"])
