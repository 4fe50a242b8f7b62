"""`client.jobs`, made of its parts."""

from __future__ import annotations

from leasehold.client.nouns.jobs.bulk import JobBulk
from leasehold.client.nouns.jobs.changing import JobChanges
from leasehold.client.nouns.jobs.listing import JobLists
from leasehold.client.nouns.jobs.reading import JobReading
from leasehold.client.nouns.jobs.upkeep import JobUpkeep


class Jobs(JobLists, JobReading, JobChanges, JobBulk, JobUpkeep):
    """`client.jobs`. The commonest calls are on the client itself: `client.get`, `client.cancel`, `client.retry`."""
