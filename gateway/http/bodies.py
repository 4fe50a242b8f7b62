"""What goes over the wire: request and response bodies, with their limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from leasehold.jobs.producing.unique import Unique
from leasehold.records.jobs import Outcome
from leasehold.validation import LONGEST_TIME

# Postgres counts bytes where these count characters: it may refuse what passes here, never the other way round.
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Key = Annotated[str, Meta(min_length=1, max_length=500)]
Integer = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Delay = Annotated[float, Meta(ge=0, le=LONGEST_TIME)]
Seconds = Annotated[float, Meta(gt=0, le=LONGEST_TIME)]
LARGEST_BIGINT = 2**63 - 1
ChainId = Annotated[int, Meta(ge=1, le=LARGEST_BIGINT)]
NO_ARGS = msgspec.Raw(b"{}")


class BlockerBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A chain to wait for: until it has completed, or until it has ended in any way."""

    chain: ChainId
    until: Literal["completed", "ended"] = "completed"


Blockers = Annotated[list[ChainId | BlockerBody], Meta(max_length=10_000)]


class JobBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job to enqueue. What is left out takes its default."""

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
    priority: Annotated[Integer, Meta(description="Higher goes first; 0 if not given.")] | None = None
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


class EnqueuedBody(msgspec.Struct, frozen=True):
    """A job that is durably written. `is_new` is false if its idempotency or unique key was known: `id` is that job's."""

    id: int
    is_new: bool
    outcome: Outcome = "created"


class HealthBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """The service is well. With `?verbose` each check that was made."""

    status: str
    checks: Sequence[str] = ()


class JobParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which job."""

    id: Annotated[int, Meta(ge=1, le=LARGEST_BIGINT)]


class LogParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which job, and which of its attempts; all where none is given."""

    id: Annotated[int, Meta(ge=1, le=LARGEST_BIGINT)]
    attempt: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None


class HealthParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much to tell; `?verbose` needs no value."""

    verbose: str | None = None


JobBatch = Annotated[list[JobBody], Meta(min_length=1, max_length=1000)]
