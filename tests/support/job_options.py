"""A value for each option of a job."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from leasehold.jobs.new_job import Unique

SAMPLES: dict[str, Any] = {
    "queue": "slow", "priority": 7, "run_at": datetime(2030, 1, 1, tzinfo=UTC), "delay": 60, "key": "k",
    "key_group": "g", "max_attempts": 1, "timeout": 2.5, "deadline": timedelta(hours=1), "idempotency_key": "i",
    "unique": Unique(by=["kind"]), "blockers": [7], "traceparent": "00-1", "metadata": {"m": 1},
}  # fmt: skip
