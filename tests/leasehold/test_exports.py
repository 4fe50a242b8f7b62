from __future__ import annotations

import subprocess
import sys

import leasehold

PUBLIC = {
    "ANY_STATE", "App", "Attempt", "AttemptError", "AuditEntry", "Blackout", "Blocker", "BlockerRecord", "CallNext",
    "CancelReason", "CapacityPlan", "CapacityRecord", "ChainRecord", "ChangedJob", "checkpoint", "Client", "Completion",
    "CompletionValues", "Context", "ContinueWith", "Discard", "Ended", "ended", "EnqueuedJob", "EnqueueMiddleware",
    "EnqueueNext", "Explanation", "Fault", "FiredTick", "Hooks", "Job", "JobOptions", "JobProgress", "JobRecord",
    "JobTransaction", "Kind", "KindOptions", "LeaseholdError", "LimitRecord", "LogLine", "Middleware", "NewJob",
    "NewToken", "NextTick", "OnConflict", "open_client", "OpenTransaction", "QueueCounts", "QUEUED", "QueueRates",
    "Reschedule", "Retry", "RetryPolicy", "Rollup", "ScheduleChanges", "ScheduleDefinition", "ScheduleOptions",
    "ScheduleRecord", "SyncCompletion", "SyncJobTransaction", "TickRecord", "TimelineEntry", "Token", "TokenRecord",
    "UNFINISHED", "Unique", "WaitFor", "WorkerRecord",
}  # fmt: skip
LITERALS = {"CancelReason", "OnConflict"}  # which have no docstring of their own


def test_exactly_the_public_names_are_exported_and_each_says_what_it_is() -> None:
    assert set(leasehold.__all__) == PUBLIC
    assert [name for name in sorted(PUBLIC - LITERALS) if not getattr(leasehold, name).__doc__] == []


def test_importing_leasehold_leaves_asyncio_as_it_is() -> None:
    """An asyncio program that only enqueues must not get trio-asyncio's event loop policy."""
    assert loads_trio_asyncio("leasehold, leasehold.database") is False


def test_the_gateway_runs_without_what_would_make_asyncio_slow() -> None:
    assert loads_trio_asyncio("leasehold.cli.shell.application, leasehold.gateway.serving.serve") is False


def loads_trio_asyncio(modules: str) -> bool:
    program = f"import sys, {modules}; print('trio_asyncio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return done.stdout.strip() == "True"
