"""What schemathesis makes of the document, sent to a gateway with a real database.

It is slow because it sends some thousand requests; the run by hand (see fuzzing/schemathesis.toml) sends many more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

from leasehold.gateway.access import failures
from tests.gateway.fakes import kubernetes
from tests.gateway.fakes.running import running_service
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parent.parent.parent
CONFIGURATION = Path(__file__).parent / "fuzzing" / "schemathesis.toml"
ROLE = "product_resync"
TASKS = 9
TOKEN = "fuzzing-token-of-32-characters-xx"
# `what_is_deleted_is_gone` of hooks.py stands for the one that is left out.
CHECKS = ("--checks", "all", "--exclude-checks", "use_after_free")
# A stream does not end, and a wait takes its time.
LEFT_OUT = r"^/api/events|/wait$"
# Each schema of jobs and queues that has limits of its own; the other routes repeat them.
EACH_LIMIT = (
    r"^/api/(jobs|jobs/(recover-stale|bulk/retry|\{id\})|queues/\{queue\}/(pause|ageing|limits|rollups|groups))$"
)
# The same handlers and words as in the main document.
SAME_AS_MAIN = r"/bulk/|\{id\}|/queues/|/keys/|/desired$"


@pytest.fixture
def url(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Generator[str]:
    monkeypatch.setattr(failures, "AT_ONCE", 1_000_000)  # all of them come from one address
    settings: Any = {"k8s_worker_statefulset": kubernetes.NAME, "k8s_max_replicas": 10_000}
    with (
        kubernetes.running_kubernetes(tmp_path) as (_, pod),
        running_service(database_url, pod=pod, gateway_token=TOKEN, **settings) as gateway,
    ):
        yield "http://{}:{}".format(*gateway.address)


def send(
    url: str, folder: Path, *options: str, document: str = "openapi.json", environ: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """The exit code and what schemathesis says. It keeps what it finds in `folder`."""
    program = (
        sys.executable,
        "-m",
        "schemathesis.cli",
        "--config-file",
        str(CONFIGURATION),
        "run",
        f"{url}/{document}",
    )
    hooks = {"PYTHONPATH": str(ROOT), "SCHEMATHESIS_HOOKS": "tests.gateway.fuzzing.hooks"}
    environment = {**os.environ, **hooks, **(environ or {})}
    found = subprocess.run(
        [*program, "--no-color", *CHECKS, "--generation-deterministic", "--request-timeout", "60", *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE * 5,
    )
    return found.returncode, found.stdout + found.stderr


def test_every_answer_is_one_that_the_document_promises(url: str, tmp_path: Path) -> None:
    options = ("--exclude-path-regex", LEFT_OUT, "--phases", "examples,fuzzing,stateful", "--max-examples", "2")
    code, said = send(url, tmp_path, *options)
    assert code == 0, said


def test_the_document_of_the_aliases_keeps_its_promises_as_well(url: str, tmp_path: Path) -> None:
    options = ("--exclude-path-regex", SAME_AS_MAIN, "--phases", "examples,fuzzing", "--max-examples", "4")
    code, said = send(url, tmp_path, *options, document="openapi-compat.json")
    assert code == 0, said


def test_tasks_that_exist_are_shown_as_the_document_of_the_aliases_says(url: str, tmp_path: Path) -> None:
    make_tasks(url)
    options = ("--include-path-regex", r"\{id\}|/queues/|/keys/|/role/|/store/|/api/tasks$|/generate/|enqueue-state")
    known = {"FUZZING_IDS": str(TASKS), "FUZZING_NAME": ROLE}
    code, said = send(
        url,
        tmp_path,
        *(*options, "--phases", "examples,fuzzing", "--max-examples", "8"),
        document="openapi-compat.json",
        environ=known,
    )
    assert code == 0, said


def make_tasks(url: str) -> None:
    """Tasks in some states, a few of which the requests then change, and a schedule of their role."""
    schedule = {"name": ROLE, "kind": ROLE, "queue": ROLE, "every": 3600, "query": "select '7' as key"}
    post(url, "/api/schedules", schedule)
    for number in range(1, TASKS + 1):
        task = {"role": ROLE, "dispensary_id": number, "platform": "dutchie", "payload": {"store": number}}
        assert post(url, "/api/tasks", task)["id"] == number
    post(url, "/api/chains/1/complete", {"output": {"products": 3}})
    post(url, "/api/tasks/2/cancel?reason=closed", None)


def post(url: str, path: str, body: object) -> Any:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url + path, data, headers, method="POST")) as answer:
        return json.load(answer)


def test_every_limit_of_the_schemas_of_jobs_is_kept_on_both_sides(url: str, tmp_path: Path) -> None:
    options = ("--include-path-regex", EACH_LIMIT)
    code, said = send(url, tmp_path, *options, "--phases", "coverage")
    assert code == 0, said
