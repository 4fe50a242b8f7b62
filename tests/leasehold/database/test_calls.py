from __future__ import annotations

from typing import Any

import pytest

from leasehold.database.calls import Hooks, call_text, decode_json, from_row
from leasehold.records.jobs import TimelineEntry
from leasehold.records.queues import QueueCounts
from tests.support.held import LONG_AGO


def test_values_are_bound_by_place_and_by_name() -> None:
    assert call_text("wake", 0) == "select * from leasehold.wake()"
    assert call_text("get_job", 1) == "select * from leasehold.get_job($1)"
    assert (
        call_text("enqueue_job", 1, ("queue", "key"))
        == "select * from leasehold.enqueue_job($1, queue => $2, key => $3)"
    )


@pytest.mark.parametrize("name", ["", "drop table", "wake();--", 'wake"', "a.b"])
def test_only_names_get_into_a_statement(name: str) -> None:
    with pytest.raises(ValueError, match="no SQL name"):
        call_text(name, 0)
    with pytest.raises(ValueError, match="no SQL name"):
        call_text("wake", 0, (name,))


class Flushed:
    """What was let out, call by call."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def sync(self, items: list[Any]) -> None:
        self.calls.append(items)

    async def later(self, items: list[Any]) -> None:
        self.calls.append(items)


async def test_each_key_is_flushed_once_with_all_its_items_in_order() -> None:
    hooks, flushed = Hooks(), Flushed()
    for item in (1, 2, 1):
        hooks.add("numbers", item, flushed.sync)
    for queue in ("mail", "mail", "ship"):
        hooks.add("wake", queue, flushed.later, once=True)
    assert len(hooks) == 5
    await hooks.flush()
    assert flushed.calls == [[1, 2, 1], ["mail", "ship"]]
    await hooks.flush()
    assert len(flushed.calls) == 2


async def test_what_a_savepoint_added_goes_with_it() -> None:
    hooks, flushed = Hooks(), Flushed()
    hooks.add("wake", "mail", flushed.sync, once=True)
    outer = hooks.mark()
    hooks.add("wake", "mail", flushed.sync, once=True)
    hooks.add("wake", "ship", flushed.sync, once=True)
    inner = hooks.mark()
    hooks.add("events", "made", flushed.sync)
    hooks.roll_back(inner)
    assert len(hooks) == 2
    hooks.roll_back(outer)
    await hooks.flush()
    assert flushed.calls == [["mail"]]


async def test_a_rollback_lets_nothing_out() -> None:
    hooks, flushed = Hooks(), Flushed()
    hooks.add("wake", "mail", flushed.sync)
    hooks.discard()
    await hooks.flush()
    assert flushed.calls == []


async def test_what_fails_after_the_commit_is_logged_and_spoils_nothing(caplog: pytest.LogCaptureFixture) -> None:
    hooks, flushed = Hooks(), Flushed()

    def breaks(_items: list[Any] | None = None) -> None:
        raise ValueError("too late to undo")

    hooks.after_commit(breaks)
    hooks.after_commit(lambda: flushed.calls.append("second"))
    hooks.add("broken", 1, breaks)
    hooks.add("whole", 2, flushed.later)
    await hooks.flush()
    assert flushed.calls == ["second", [2]]
    assert caplog.text.count("ValueError: too late to undo") == 2


def test_a_record_takes_its_fields_from_a_row_that_may_have_more() -> None:
    row: Any = {
        "queue": "mail",
        "state": "pending",
        "jobs": 3,
        "counted_at": None,
        "is_partial": False,
        "more": "ignored",
    }
    assert from_row(QueueCounts, row) == QueueCounts(queue="mail", state="pending", jobs=3)


def test_a_column_that_the_schema_of_a_release_before_lacks_has_its_default() -> None:
    row: Any = {"queue": "mail", "state": "pending", "jobs": 3}
    assert from_row(QueueCounts, row) == QueueCounts(queue="mail", state="pending", jobs=3)
    del row["jobs"]
    with pytest.raises(TypeError, match="jobs"):
        from_row(QueueCounts, row)


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
