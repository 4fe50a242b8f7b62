"""The fencing token of an attempt."""

from __future__ import annotations

from typing import NamedTuple


class Token(NamedTuple):
    """The fencing token: the first parameters of `leasehold.assert_lease` and `leasehold.complete_job`, in their order.

    Attributes:
        job_id, attempt: of the attempt.
        incarnation: of the worker process that holds the lease, as text, which every driver takes.
    """

    job_id: int
    attempt: int
    incarnation: str
