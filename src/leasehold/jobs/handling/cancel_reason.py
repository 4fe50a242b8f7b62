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

cancelled: by hand, or its chain was. timeout: the attempt took too long; it fails and is tried again. deadline: the job is
too late and fails for good. taken_by_another_worker: its lease ran out. already_completed: somebody completed it from outside.
not_found: it was deleted. error: the lease could not be renewed and cannot be trusted any longer. shutdown: the worker
ends; the job is handed back and the attempt does not count.
"""
