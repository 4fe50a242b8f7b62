"""Background jobs for Python on nothing but Postgres."""

from leasehold.app import App
from leasehold.attempt import Attempt
from leasehold.client import Client, open_client
from leasehold.continuation import ContinueWith, WaitFor
from leasehold.errors import LeaseholdError
from leasehold.job import Job, NewJob
from leasehold.kind import Kind
from leasehold.middleware import CallNext
from leasehold.records import EnqueuedJob, JobRecord, QueueCounts, TimelineEntry, WorkerRecord
from leasehold.retry import Discard, Reschedule, Retry, RetryPolicy, checkpoint

__all__ = [
    "App",
    "Attempt",
    "CallNext",
    "Client",
    "ContinueWith",
    "Discard",
    "EnqueuedJob",
    "Job",
    "JobRecord",
    "Kind",
    "LeaseholdError",
    "NewJob",
    "QueueCounts",
    "Reschedule",
    "Retry",
    "RetryPolicy",
    "TimelineEntry",
    "WaitFor",
    "WorkerRecord",
    "checkpoint",
    "open_client",
]
