"""Every name that `import leasehold` gives. `leasehold` fetches them from here when the first one is asked for."""

from leasehold.access.records import AuditEntry, NewToken, TokenRecord
from leasehold.app import App
from leasehold.capacity.records import CapacityPlan, CapacityRecord, QueueRates, Rollup
from leasehold.client import Client, open_client
from leasehold.database import OpenTransaction
from leasehold.database.hooks import Hooks
from leasehold.errors import LeaseholdError
from leasehold.jobs.handling.cancel_reason import CancelReason
from leasehold.jobs.handling.context import Context
from leasehold.jobs.handling.continuation import ContinueWith, WaitFor
from leasehold.jobs.handling.job import Job
from leasehold.jobs.handling.retry import Discard, Reschedule, Retry, RetryPolicy, checkpoint
from leasehold.jobs.handling.token import Token
from leasehold.jobs.handling.transactions import (
    Completion,
    CompletionValues,
    JobTransaction,
    SyncCompletion,
    SyncJobTransaction,
)
from leasehold.jobs.kinds.attempt import Attempt
from leasehold.jobs.kinds.kind import Kind
from leasehold.jobs.kinds.kind_options import KindOptions
from leasehold.jobs.kinds.middleware import CallNext, EnqueueMiddleware, EnqueueNext, Middleware
from leasehold.jobs.producing.new_job import Blocker, Ended, JobOptions, NewJob, ended
from leasehold.jobs.producing.unique import ANY_STATE, QUEUED, UNFINISHED, OnConflict, Unique
from leasehold.records.chains import BlockerRecord, ChainRecord
from leasehold.records.jobs import (
    AttemptError,
    ChangedJob,
    EnqueuedJob,
    Explanation,
    Fault,
    JobProgress,
    JobRecord,
    LogLine,
    TimelineEntry,
)
from leasehold.records.queues import LimitRecord, QueueCounts
from leasehold.records.workers import WorkerRecord
from leasehold.schedules.definition import Blackout, ScheduleChanges, ScheduleDefinition, ScheduleOptions
from leasehold.schedules.records import FiredTick, NextTick, ScheduleRecord, TickRecord

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
    "JobOptions",
    "JobProgress",
    "JobRecord",
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
