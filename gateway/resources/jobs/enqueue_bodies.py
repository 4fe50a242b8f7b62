"""The bodies that enqueue jobs, and the answers to them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from leasehold.gateway.http.fields import ChainId, Delay, Integer, Key, Name, Seconds
from leasehold.gateway.resources.jobs.bodies import DryRun, Metadata, State
from leasehold.jobs.producing.unique import Unique
from leasehold.records.jobs import Outcome

NO_ARGS = msgspec.Raw(b"{}")


class BlockerBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A chain to wait for: until it has completed, or until it has ended in any way."""

    chain: ChainId
    until: Literal["completed", "ended"] = "completed"


Blockers = Annotated[list[ChainId | BlockerBody], Meta(max_length=10_000)]


class JobBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job to enqueue. What is left out or null is as its kind says, else the default."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "not": {
            "required": ["delay", "run_at"],
            "properties": {"delay": {"not": {"type": "null"}}, "run_at": {"not": {"type": "null"}}},
        }
    }

    kind: Name
    args: Annotated[
        msgspec.Raw, Meta(description="Any JSON object.", extra_json_schema={"type": "object", "default": {}})
    ] = msgspec.field(default_factory=lambda: NO_ARGS)
    queue: Name | None = None
    priority: (
        Annotated[Integer, Meta(description="Higher goes first; that of its kind if not given, else 0.")] | None
    ) = None
    run_at: Annotated[datetime, Meta(tz=True, description="Not before this time.")] | None = None
    delay: Annotated[Delay, Meta(description="Not before this many seconds from now.")] | None = None
    key: Annotated[Key, Meta(description="What the job is about; one active job per key.")] | None = None
    key_group: Annotated[Key, Meta(description="What limits of each group count by: a tenant, a host.")] | None = None
    max_attempts: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    timeout: Annotated[Seconds, Meta(description="Seconds that one attempt may run.")] | None = None
    deadline: Annotated[datetime, Meta(tz=True, description="The job fails then, whatever state it is in.")] | None = (
        None
    )
    blockers: (
        Annotated[
            Blockers,
            Meta(description="Chains to wait for: ids of their first jobs, which have to complete, or objects."),
        ]
        | None
    ) = None
    unique: Annotated[Unique, Meta(description="Which other jobs count as this one.")] | None = None
    traceparent: Annotated[str, Meta(max_length=200, description="W3C trace context.")] | None = None
    idempotency_key: (
        Annotated[Key, Meta(description="A second job with this key is not written, whatever it says.")] | None
    ) = None
    metadata: dict[str, Any] | None = None
    check_args: (
        Annotated[bool, Meta(description="False: take args that do not fit the schema of the kind; true if not given.")]
        | None
    ) = None


class EnqueuedBody(msgspec.Struct, frozen=True):
    """A job that is durably written. `is_new` is false if its idempotency or unique key was known: `id` is that job's."""

    id: int
    is_new: bool
    outcome: Outcome = "created"


JobBatch = Annotated[list[JobBody], Meta(min_length=1, max_length=1000)]


class ResultBody(EnqueuedBody, frozen=True):
    """The job, and how the chain that it begins stands: `state` is open, completed, failed or cancelled."""

    state: Literal["open", "completed", "failed", "cancelled"] = "open"
    output: Any = None
    error: Any = None


class KeyFilter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which subjects: the keys of all jobs that match, finished or not.

    `state` is that of the newest of them for each key: all shops whose last crawl failed.
    """

    queue: Name | None = None
    kind: Name | None = None
    metadata: Annotated[Metadata, Meta(description="A JSON object that is part of theirs.")] | None = None
    state: State | None = None
    keys: Annotated[list[Key], Meta(max_length=10_000, description="Only these.")] | None = None


class KeysBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job to enqueue for each subject of a filter."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "allOf": [
            {"properties": {"job": {"properties": {"key": {"type": "null"}, "idempotency_key": {"type": "null"}}}}}
        ]
    }

    job: Annotated[JobBody, Meta(description="Without a key: it gets that of the subject.")]
    filter: KeyFilter = KeyFilter()
    after_key: Annotated[Key, Meta(description="Only later keys: `next` of the answer before.")] | None = None
    limit: Annotated[int, Meta(ge=1, le=10_000, description="At most so many keys.")] = 1000
    dry_run: DryRun = False
