"""What is out of its bounds is refused with them: one table for all functions that take a size, a number of days or a span."""

from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput

Named = dict[str, object]

PAGE = "page_size must be from 1 to 1000"
DAY = "keep_days must be 1 or more, not"

BOUNDS: list[tuple[str, Named, str, list[object], str]] = [
    ("list_audit", {}, "page_size", [0, 1001, None], "page_size"),
    ("list_blocked_jobs", {"chain_id": 1}, "page_size", [0, 1001, None], "page_size"),
    ("list_chain_jobs", {"chain_id": 1}, "page_size", [0, 1001, None], "page_size"),
    ("list_chains", {}, "page_size", [0, -1, 1001, None], "page_size"),
    ("list_group_failures", {"fingerprint": "0" * 16}, "page_size", [0, 10_001], "page_size must be from"),
    ("list_jobs", {}, "page_size", [0, 1001, None], f"{PAGE}, not"),
    ("list_key_groups", {"queue": "q"}, "most", [0], "most must be from 1 to 1000, not 0"),
    ("list_key_groups", {"queue": "q"}, "counted", [20_000], "counted must be from 1 to 10000, not 20000"),
    ("list_key_jobs", {"key": "k"}, "page_size", [0, 101, None], "page_size must be from 1 to 100"),
    ("list_payloads", {}, "page_size", [0, 1001, None], "page_size"),
    ("list_recent_jobs", {"queue": "q"}, "page_size", [0, 101], "page_size must be from 1 to 100"),
    ("list_recent_jobs", {"queue": "q"}, "state", ["pending"], "page_size must be from 1 to 100"),
    ("list_recent_ticks", {}, "most", [101], "most must be from 1 to 100, not 101"),
    ("list_recent_ticks", {}, "page_size", [0], f"{PAGE}, not 0"),
    ("list_schedules", {}, "page_size", [0, 1001, None], PAGE),
    ("list_slow_queues", {}, "minutes", [0], "must be"),
    ("list_slow_queues", {}, "before", [1441], "must be"),
    ("list_slow_queues", {}, "factor", [1.0], "must be"),
    ("list_slow_queues", {}, "fewest", [0], "must be"),
    ("list_slow_queues", {}, "margin", [None], "must be"),
    ("list_stuck_keys", {}, "longer_than", [-1.0, None], "longer_than must be 0 or more"),
    ("list_stuck_keys", {}, "most", [0, None], "longer_than must be 0 or more"),
    ("find_page_end", {}, "jobs", [0, 1_000_001, None], "jobs must be from 1 to 1000000, not"),
    ("drop_old_partitions", {}, "keep_days", [0, -1, None], DAY),
    ("drop_old_rollups", {}, "keep_days", [1, 0, None], "keep_days must be 2 or more"),
    ("drop_old_rows", {}, "keep_days", [0, -1, None], DAY),
    ("drop_old_ticks", {}, "keep_days", [0, None], "keep_days must be 1 or more"),
    ("drop_rows_of_old_jobs", {}, "keep_days", [0, -1, None], DAY),
    ("ensure_partitions", {}, "days_ahead", [-1, 401, None], "days_ahead must be from 0 to 400, not"),
    ("expire_old_payloads", {}, "keep_days", [0, None], "keep_days"),
    ("guard_default_partitions", {}, "days_ahead", [-1, 401, None], "days_ahead must be from 0 to 400, not"),
    ("get_rates", {}, "minutes", [0, 2881, None], "minutes must be from 1 to 2880"),
    ("measure_history", {"queue": "q"}, "hours", [0.0, 721.0, None], "hours must be above 0 and at most 720"),
    ("measure_history", {"queue": "q"}, "points", [0], "points must be from 1 to 500, not 0"),
    ("workers_needed", {"queue": "q"}, "hours", [0.0, -1.0, float("nan"), 1e6, None], "hours must be above 0"),
]


async def test_what_is_out_of_its_bounds_is_refused_with_them(database: Database) -> None:
    for function, others, parameter, values, complaint in BOUNDS:
        for value in values:
            with pytest.raises(BadInput, match=complaint):
                await database.call(function, **{**others, parameter: value})  # pyright: ignore[reportArgumentType]
