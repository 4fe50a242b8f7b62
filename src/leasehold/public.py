"""Every name that `import leasehold` gives, and the module that it lives in.

The module is imported when the name is first asked for: who imports `App` waits for no client, no trio and no asyncpg. Type
checkers read the imports below; `HOMES` says the same while a program runs, and tests/leasehold/test_exports.py compares them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from leasehold.access.tokens import AuditEntry, NewToken, TokenRecord
    from leasehold.actors.worker.in_process import worker
    from leasehold.app import App
    from leasehold.asks import Statement, enqueue_statement
    from leasehold.capacity.records import CapacityPlan, CapacityRecord, QueueRates, Rollup
    from leasehold.client import Client, connect, open_client
    from leasehold.client.nouns.jobs_bulk import BulkFilter
    from leasehold.client.nouns.jobs_read import JobCriteria, JobSearch
    from leasehold.database import OpenTransaction
    from leasehold.database.calls import Hooks
    from leasehold.errors import LeaseholdError
    from leasehold.jobs.endings import ContinueWith, Discard, Reschedule, Retry, RetryPolicy, WaitFor, checkpoint
    from leasehold.jobs.job import Job
    from leasehold.jobs.job_host import CancelReason, Context, Token
    from leasehold.jobs.kind import Kind, KindOptions
    from leasehold.jobs.middleware import Attempt, CallNext, EnqueueMiddleware, EnqueueNext, Middleware
    from leasehold.jobs.new_job import (
        Blocker,
        Ended,
        JobOptions,
        NewJob,
        OnConflict,
        Unique,
        ended,
    )
    from leasehold.jobs.transactions import (
        Completion,
        CompletionValues,
        JobTransaction,
        SyncCompletion,
        SyncJobTransaction,
    )
    from leasehold.records.jobs import (
        ANY_STATE,
        QUEUED,
        UNFINISHED,
        AttemptError,
        BlockerRecord,
        ChainRecord,
        ChangedJob,
        EnqueuedJob,
        Explanation,
        Fault,
        JobProgress,
        JobRecord,
        LogLine,
        TimelineEntry,
    )
    from leasehold.records.payloads import PayloadRecord
    from leasehold.records.queues import LimitRecord, QueueCounts
    from leasehold.records.workers import WorkerRecord
    from leasehold.schedules.definition import ScheduleChanges, ScheduleDefinition, ScheduleOptions
    from leasehold.schedules.records import FiredTick, NextTick, ScheduleRecord, TickRecord

__all__ = [
    "ANY_STATE",
    "QUEUED",
    "UNFINISHED",
    "App",
    "Attempt",
    "AttemptError",
    "AuditEntry",
    "Blocker",
    "BlockerRecord",
    "BulkFilter",
    "CallNext",
    "CancelReason",
    "CapacityPlan",
    "CapacityRecord",
    "ChainRecord",
    "ChangedJob",
    "Client",
    "Completion",
    "CompletionValues",
    "Context",
    "ContinueWith",
    "Discard",
    "Ended",
    "EnqueueMiddleware",
    "EnqueueNext",
    "EnqueuedJob",
    "Explanation",
    "Fault",
    "FiredTick",
    "Hooks",
    "Job",
    "JobCriteria",
    "JobOptions",
    "JobProgress",
    "JobRecord",
    "JobSearch",
    "JobTransaction",
    "Kind",
    "KindOptions",
    "LeaseholdError",
    "LimitRecord",
    "LogLine",
    "Middleware",
    "NewJob",
    "NewToken",
    "NextTick",
    "OnConflict",
    "OpenTransaction",
    "PayloadRecord",
    "QueueCounts",
    "QueueRates",
    "Reschedule",
    "Retry",
    "RetryPolicy",
    "Rollup",
    "ScheduleChanges",
    "ScheduleDefinition",
    "ScheduleOptions",
    "ScheduleRecord",
    "Statement",
    "SyncCompletion",
    "SyncJobTransaction",
    "TickRecord",
    "TimelineEntry",
    "Token",
    "TokenRecord",
    "Unique",
    "WaitFor",
    "WorkerRecord",
    "checkpoint",
    "connect",
    "ended",
    "enqueue_statement",
    "open_client",
    "worker",
]

HOMES: Final[dict[str, tuple[str, ...]]] = {
    "leasehold.access.tokens": ("AuditEntry", "NewToken", "TokenRecord"),
    "leasehold.actors.worker.in_process": ("worker",),
    "leasehold.app": ("App",),
    "leasehold.asks": ("Statement", "enqueue_statement"),
    "leasehold.capacity.records": ("CapacityPlan", "CapacityRecord", "QueueRates", "Rollup"),
    "leasehold.client": ("Client", "connect", "open_client"),
    "leasehold.client.nouns.jobs_bulk": ("BulkFilter",),
    "leasehold.client.nouns.jobs_read": ("JobCriteria", "JobSearch"),
    "leasehold.database": ("OpenTransaction",),
    "leasehold.database.calls": ("Hooks",),
    "leasehold.errors": ("LeaseholdError",),
    "leasehold.jobs.endings": (
        "ContinueWith",
        "Discard",
        "Reschedule",
        "Retry",
        "RetryPolicy",
        "WaitFor",
        "checkpoint",
    ),
    "leasehold.jobs.job": ("Job",),
    "leasehold.jobs.job_host": ("CancelReason", "Context", "Token"),
    "leasehold.jobs.kind": ("Kind", "KindOptions"),
    "leasehold.jobs.middleware": ("Attempt", "CallNext", "EnqueueMiddleware", "EnqueueNext", "Middleware"),
    "leasehold.jobs.new_job": (
        "Blocker",
        "Ended",
        "JobOptions",
        "NewJob",
        "OnConflict",
        "Unique",
        "ended",
    ),
    "leasehold.jobs.transactions": (
        "Completion",
        "CompletionValues",
        "JobTransaction",
        "SyncCompletion",
        "SyncJobTransaction",
    ),
    "leasehold.records.jobs": (
        "ANY_STATE",
        "QUEUED",
        "UNFINISHED",
        "AttemptError",
        "BlockerRecord",
        "ChainRecord",
        "ChangedJob",
        "EnqueuedJob",
        "Explanation",
        "Fault",
        "JobProgress",
        "JobRecord",
        "LogLine",
        "TimelineEntry",
    ),
    "leasehold.records.payloads": ("PayloadRecord",),
    "leasehold.records.queues": ("LimitRecord", "QueueCounts"),
    "leasehold.records.workers": ("WorkerRecord",),
    "leasehold.schedules.definition": ("ScheduleChanges", "ScheduleDefinition", "ScheduleOptions"),
    "leasehold.schedules.records": ("FiredTick", "NextTick", "ScheduleRecord", "TickRecord"),
}

_HOME_OF: Final = {name: module for module, names in HOMES.items() for name in names}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__} has no attribute {name}")
        value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
        return value
