from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import leasehold
from leasehold import public
from tests.support.waiting import PATIENCE

PUBLIC = {
    "ANY_STATE", "App", "Attempt", "AttemptError", "AuditEntry", "Blocker", "BlockerRecord", "BulkFilter", "CallNext",
    "CancelReason", "CapacityPlan", "CapacityRecord", "ChainRecord", "ChangedJob", "checkpoint", "Client", "Completion", "connect",
    "CompletionValues", "Context", "ContinueWith", "Discard", "Ended", "ended", "EnqueuedJob", "EnqueueMiddleware",
    "enqueue_statement", "EnqueueNext", "Explanation", "Fault", "FiredTick", "Hooks", "Job", "JobCriteria",
    "JobOptions", "JobProgress", "JobRecord", "JobSearch",
    "JobTransaction", "Kind", "KindOptions", "LeaseholdError", "LimitRecord", "LogLine", "Middleware", "NewJob",
    "NewToken", "NextTick", "OnConflict", "open_client", "OpenTransaction", "PayloadRecord", "QueueCounts", "QUEUED", "QueueRates",
    "Reschedule", "Retry", "RetryPolicy", "Rollup", "ScheduleChanges", "ScheduleDefinition", "ScheduleOptions",
    "ScheduleRecord", "Statement", "SyncCompletion", "SyncJobTransaction", "TickRecord", "TimelineEntry", "Token", "TokenRecord",
    "UNFINISHED", "Unique", "WaitFor", "worker", "WorkerRecord",
}  # fmt: skip
LITERALS = {"CancelReason", "OnConflict"}  # which have no docstring of their own


def test_exactly_the_public_names_are_exported_and_each_says_what_it_is() -> None:
    assert set(leasehold.__all__) == PUBLIC
    assert [name for name in sorted(PUBLIC - LITERALS) if not getattr(leasehold, name).__doc__] == []


def test_names_are_fetched_from_the_modules_that_type_checkers_read() -> None:
    tree = ast.parse(Path(public.__file__).read_text())
    read = {
        str(node.module): tuple(each.name for each in node.names)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("leasehold.")
    }
    assert read == public.HOMES
    assert sorted(public.__all__) == sorted(name for names in read.values() for name in names)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="leasehold has no attribute nothing"):
        getattr(leasehold, "nothing")  # noqa: B009  a checker knows that it is not there


LIBRARIES = {
    "trio",
    "asyncpg",
    "psycopg",
    "aiohttp",
    "http.client",
    "importlib.resources",
    "tempfile",
    "leasehold.client",
}


@pytest.mark.parametrize(
    ("program", "spared"),
    [
        ("from leasehold import App, Job, Unique, RetryPolicy", LIBRARIES | {"leasehold.actors", "leasehold.egress"}),
        ("import leasehold.sync, leasehold.app", LIBRARIES),
        (
            "from leasehold import App, Client, open_client",
            {"trio", "psycopg", "aiohttp", "http.client", "leasehold.actors"},
        ),
    ],
)
def test_a_program_loads_nothing_before_it_needs_it(program: str, spared: set[str]) -> None:
    """How long an import takes depends on the machine; what it loads does not."""
    printed = f"import sys; {program}; print({spared!r} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", printed], check=True, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout == "set()\n"
