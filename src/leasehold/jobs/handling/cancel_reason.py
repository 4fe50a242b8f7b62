"""Why a handler is cancelled."""

from __future__ import annotations

from typing import Literal, TypeAlias

CancelReason: TypeAlias = Literal[
    "cancelled",
    "timeout",
    "deadline",
    "taken_by_another_worker",
    "already_completed",
    "not_found",
    "error",
    "shutdown",
]
"""What `job.cancel_reason` says while a handler is being cancelled.

- `cancelled`: the job or its chain was cancelled.
- `timeout`: the attempt took too long; it fails and is retried.
- `deadline`: the deadline of the job has passed; the job fails for good.
- `taken_by_another_worker`: the lease ran out, and another worker claimed the job.
- `already_completed`: the job was completed from outside.
- `not_found`: the job was deleted.
- `error`: the lease could not be renewed in time and may have run out.
- `shutdown`: the worker ends; the job goes back to its queue and the attempt does not count.
"""
