"""Background jobs for Python on nothing but Postgres."""

from leasehold.app import App
from leasehold.client import Client, open_client
from leasehold.errors import LeaseholdError
from leasehold.job import Job, NewJob
from leasehold.kind import Kind
from leasehold.records import EnqueuedJob, JobRecord, QueueCounts, TimelineEntry, WorkerRecord
from leasehold.retry import Discard, Reschedule, Retry, RetryPolicy, checkpoint

__all__ = [
    "App",
    "Client",
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
    "WorkerRecord",
    "checkpoint",
    "open_client",
]
