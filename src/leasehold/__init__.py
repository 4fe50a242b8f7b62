"""Background jobs for Python on nothing but Postgres."""

from leasehold.access_records import AuditEntry, NewToken, TokenRecord
from leasehold.app import App
from leasehold.attempt import Attempt
from leasehold.cancel_reason import CancelReason
from leasehold.capacity import CapacityPlan, CapacityRecord, QueueRates, Rollup
from leasehold.client import Client, open_client
from leasehold.context import Context
from leasehold.continuation import ContinueWith, WaitFor
from leasehold.database import OpenTransaction
from leasehold.errors import LeaseholdError
from leasehold.hooks import Hooks
from leasehold.job import Job, NewJob, Token
from leasehold.kind import Kind
from leasehold.middleware import CallNext, EnqueueMiddleware, EnqueueNext, Middleware
from leasehold.new_job import Blocker, Ended, ended
from leasehold.records import (
    AttemptError,
    BlockerRecord,
    ChainRecord,
    ChangedJob,
    EnqueuedJob,
    Explanation,
    Fault,
    JobProgress,
    JobRecord,
    LimitRecord,
    LogLine,
    QueueCounts,
    TimelineEntry,
    WorkerRecord,
)
from leasehold.retry import Discard, Reschedule, Retry, RetryPolicy, checkpoint
from leasehold.schedule import Blackout, ScheduleChanges, ScheduleDefinition, ScheduleOptions
from leasehold.schedule_records import FiredTick, NextTick, ScheduleRecord, TickRecord
from leasehold.transactions import Completion, CompletionValues, JobTransaction, SyncCompletion, SyncJobTransaction
from leasehold.unique import ANY_STATE, QUEUED, UNFINISHED, OnConflict, Unique

__all__ = [
    "ANY_STATE",
    "QUEUED",
    "UNFINISHED",
    "App",
    "Attempt",
    "AttemptError",
    "AuditEntry",
    "Blackout",
    "Blocker",
    "BlockerRecord",
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
    "JobProgress",
    "JobRecord",
    "JobTransaction",
    "Kind",
    "LeaseholdError",
    "LimitRecord",
    "LogLine",
    "Middleware",
    "NewJob",
    "NewToken",
    "NextTick",
    "OnConflict",
    "OpenTransaction",
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
    "ended",
    "open_client",
]
