"""Background jobs for Python on nothing but Postgres."""

from leasehold.app import App
from leasehold.attempt import Attempt
from leasehold.client import Client, open_client
from leasehold.continuation import ContinueWith, WaitFor
from leasehold.errors import LeaseholdError
from leasehold.hooks import Hooks
from leasehold.job import Job, NewJob, Token
from leasehold.kind import Kind
from leasehold.middleware import CallNext
from leasehold.records import (
    AttemptError,
    BlockerRecord,
    ChainRecord,
    ChangedJob,
    EnqueuedJob,
    Explanation,
    Fault,
    JobRecord,
    LimitRecord,
    QueueCounts,
    TimelineEntry,
    WorkerRecord,
)
from leasehold.retry import Discard, Reschedule, Retry, RetryPolicy, checkpoint
from leasehold.transactions import Completion, JobTransaction, SyncCompletion, SyncJobTransaction
from leasehold.unique import Unique

__all__ = [
    "App",
    "Attempt",
    "AttemptError",
    "BlockerRecord",
    "CallNext",
    "ChainRecord",
    "ChangedJob",
    "Client",
    "Completion",
    "ContinueWith",
    "Discard",
    "EnqueuedJob",
    "Explanation",
    "Fault",
    "Hooks",
    "Job",
    "JobRecord",
    "JobTransaction",
    "Kind",
    "LeaseholdError",
    "LimitRecord",
    "NewJob",
    "QueueCounts",
    "Reschedule",
    "Retry",
    "RetryPolicy",
    "SyncCompletion",
    "SyncJobTransaction",
    "TimelineEntry",
    "Token",
    "Unique",
    "WaitFor",
    "WorkerRecord",
    "checkpoint",
    "open_client",
]
