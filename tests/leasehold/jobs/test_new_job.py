from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import msgspec
import pytest

from leasehold.jobs.new_job import NewJob
from tests.support.job_options import SAMPLES


def test_what_is_left_to_the_database_is_not_sent() -> None:
    assert msgspec.json.encode(NewJob(kind="echo")) == b'{"kind":"echo","args":{}}'
    assert msgspec.json.encode(NewJob(kind="echo", args=msgspec.Raw(b'{"a":1}'), delay=2.5)) == (
        b'{"kind":"echo","args":{"a":1},"delay":2.5}'
    )


def test_two_new_jobs_share_no_args() -> None:
    assert NewJob(kind="a").args is not NewJob(kind="a").args


MADE = NewJob(kind="ship", args={"order": 7}, queue="shop", priority=3)
LATER = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_job_but_with_another_option_is_otherwise_the_same(name: str) -> None:
    changed = MADE.but(**{name: SAMPLES[name]})
    assert getattr(changed, name) == SAMPLES[name]
    assert changed == msgspec.structs.replace(MADE, **{name: SAMPLES[name]})
    assert MADE.queue == "shop"


@pytest.mark.parametrize("wrong", [{"prioritty": 1}, {"prioritty": None}])
def test_an_option_that_does_not_exist_is_refused_with_the_nearest_name(wrong: Any) -> None:
    with pytest.raises(TypeError, match="a job has no option 'prioritty'; did you mean 'priority'"):
        MADE.but(**wrong)
    with pytest.raises(TypeError, match=r"a job has no option 'kind'$"):
        MADE.but(**cast("Any", {"kind": "another"}))


def test_nothing_said_changes_nothing() -> None:
    assert MADE.but() == MADE


def test_times_are_seconds_or_a_timedelta() -> None:
    changed = MADE.but(delay=timedelta(minutes=1), timeout=timedelta(seconds=2))
    assert (changed.delay, changed.timeout) == (60.0, 2.0)


def test_run_at_and_delay_take_each_others_place() -> None:
    assert (MADE.but(delay=5).but(run_at=LATER).delay, MADE.but(run_at=LATER).but(delay=0).run_at) == (None, None)
    both = MADE.but(delay=5, run_at=LATER)  # which the database refuses
    assert (both.delay, both.run_at) == (5, LATER)
