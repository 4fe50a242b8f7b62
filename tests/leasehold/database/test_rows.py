from __future__ import annotations

from typing import Any

import pytest

from leasehold.database.rows import decode_json, from_row
from leasehold.records.jobs import TimelineEntry
from leasehold.records.queues import QueueCounts
from tests.support.held import LONG_AGO


def test_a_record_takes_its_fields_from_a_row_that_may_have_more() -> None:
    row: Any = {"queue": "mail", "state": "pending", "jobs": 3, "counted_at": None, "more": "ignored"}
    assert from_row(QueueCounts, row) == QueueCounts(queue="mail", state="pending", jobs=3)


def test_json_columns_are_decoded_and_null_stays_none() -> None:
    row: Any = {
        "at": LONG_AGO,
        "event": "failed",
        "attempt": 1,
        "worker_id": None,
        "message": "{}",
        "detail": '{"type": "E"}',
        "actor": None,
    }
    entry = from_row(TimelineEntry, row)
    assert (entry.detail, entry.message) == ({"type": "E"}, "{}")
    row["detail"] = None
    assert from_row(TimelineEntry, row).detail is None


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, '{"n": 1' + "0" * 5000 + "}"])
def test_json_that_python_cannot_hold_is_given_as_text(text: str) -> None:
    assert decode_json(text) == text
