from __future__ import annotations

import inspect
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from leasehold.client import Client
from leasehold.jobs.handling.job import NewJob
from leasehold.jobs.producing.unique import Unique


def test_what_is_left_to_the_database_is_not_sent() -> None:
    assert msgspec.json.encode(NewJob(kind="echo")) == b'{"kind":"echo","args":{}}'
    assert msgspec.json.encode(NewJob(kind="echo", args=msgspec.Raw(b'{"a":1}'), delay=2.5)) == (
        b'{"kind":"echo","args":{"a":1},"delay":2.5}'
    )


def test_a_field_that_does_not_exist_is_refused() -> None:
    misspelt: dict[str, Any] = {"kind": "echo", "prioritty": 1}
    with pytest.raises(TypeError, match="prioritty"):
        NewJob(**misspelt)


def test_two_new_jobs_share_no_args() -> None:
    assert NewJob(kind="a").args is not NewJob(kind="a").args


MADE = NewJob(kind="ship", args={"order": 7}, queue="shop", priority=3)
LATER = datetime(2030, 1, 1, tzinfo=UTC)
OPTIONS: dict[str, Any] = {
    "queue": "slow", "priority": 0, "run_at": LATER, "delay": 60, "key": "k", "key_group": "g", "max_attempts": 1,
    "timeout": 2.5, "deadline": timedelta(hours=1), "idempotency_key": "i", "unique": Unique(), "blockers": [7],
    "traceparent": "00-1", "metadata": {"m": 1},
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
def test_a_job_but_with_another_option_is_otherwise_the_same(name: str) -> None:
    changed = MADE.but(**{name: OPTIONS[name]})
    assert getattr(changed, name) == OPTIONS[name]
    assert changed == msgspec.structs.replace(MADE, **{name: OPTIONS[name]})
    assert MADE.queue == "shop"


def test_every_option_of_a_job_can_be_said_so_and_to_the_client() -> None:
    assert set(OPTIONS) == set(NewJob.__struct_fields__) - {"kind", "args", "fingerprint"}
    assert set(inspect.signature(NewJob.but).parameters) - {"self"} == set(OPTIONS)
    beside = {"self", "job", "args", "connection", "hooks"}
    assert set(inspect.signature(Client.enqueue).parameters) - beside == set(OPTIONS) - {"traceparent"}


def test_nothing_said_changes_nothing() -> None:
    assert MADE.but() == MADE


def test_times_are_seconds_or_a_timedelta() -> None:
    changed = MADE.but(delay=timedelta(minutes=1), timeout=timedelta(seconds=2))
    assert (changed.delay, changed.timeout) == (60.0, 2.0)


def test_run_at_and_delay_take_each_others_place() -> None:
    assert (MADE.but(delay=5).but(run_at=LATER).delay, MADE.but(run_at=LATER).but(delay=0).run_at) == (None, None)
    both = MADE.but(delay=5, run_at=LATER)  # which the database refuses
    assert (both.delay, both.run_at) == (5, LATER)
