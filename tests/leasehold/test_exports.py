from __future__ import annotations

import subprocess
import sys

import leasehold

PUBLIC = {
    "App", "Attempt", "AttemptError", "BlockerRecord", "CallNext", "ChainRecord", "ChangedJob", "Client",
    "Completion", "ContinueWith", "Discard", "EnqueuedJob", "Explanation", "Fault", "Hooks", "Job", "JobRecord",
    "JobTransaction", "Kind", "LeaseholdError", "LimitRecord", "NewJob", "QueueCounts", "Reschedule", "Retry",
    "RetryPolicy", "SyncCompletion", "SyncJobTransaction", "TimelineEntry", "Token", "Unique", "WaitFor",
    "WorkerRecord", "checkpoint", "open_client",
}  # fmt: skip


def test_exactly_the_public_names_are_exported_and_each_says_what_it_is() -> None:
    assert set(leasehold.__all__) == PUBLIC
    assert [name for name in sorted(PUBLIC) if not getattr(leasehold, name).__doc__] == []


def test_importing_leasehold_leaves_asyncio_as_it_is() -> None:
    """An asyncio program that only enqueues must not get trio-asyncio's event loop policy."""
    program = "import sys, leasehold, leasehold.database; print('trio_asyncio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
