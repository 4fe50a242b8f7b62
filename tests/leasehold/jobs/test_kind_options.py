from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import msgspec
import pytest

from leasehold import App, Attempt, CallNext
from leasehold.jobs.endings import RetryPolicy
from leasehold.jobs.kind import DEFAULTS_OF_JOBS, CheckedKindOptions, KindOptions, checked_options
from leasehold.jobs.new_job import JOB_OPTIONS


def test_every_option_of_a_kind_is_documented_and_checked() -> None:
    declared = {*KindOptions.__annotations__}
    assert {*CheckedKindOptions.__struct_fields__} - declared == {"middlewares"}, "KindOptions lacks an option"
    assert declared - {*CheckedKindOptions.__struct_fields__} == set(), "CheckedKindOptions lacks an option"
    assert [name for name in declared if name not in str(KindOptions.__doc__)] == []


def test_what_a_job_takes_over_is_an_option_of_both() -> None:
    assert {*DEFAULTS_OF_JOBS} <= {*JOB_OPTIONS} & {*KindOptions.__annotations__}


@pytest.mark.parametrize("wrong", [{"timout": 5}, {"timout": None}])
def test_an_option_that_does_not_exist_is_refused_with_the_nearest_name(wrong: Any) -> None:
    with pytest.raises(TypeError, match="a kind has no option 'timout'; did you mean 'timeout'"):
        App().kind(**wrong)


def test_what_is_none_takes_the_default() -> None:
    nothing = cast("KindOptions", dict.fromkeys(KindOptions.__annotations__))
    assert checked_options(nothing, ()) == CheckedKindOptions() == checked_options({}, [])
    retry = checked_options({"retry": RetryPolicy(cap=5)}, ()).retry
    assert retry is not None
    assert retry.cap == 5


def test_times_become_seconds() -> None:
    made = checked_options({"lease": timedelta(minutes=1), "timeout": timedelta(hours=1), "deadline": 90}, ())
    assert (made.lease, made.timeout, made.deadline) == (60.0, 3600.0, 90)


def test_a_kind_keeps_its_middlewares_in_their_order() -> None:
    async def one(attempt: Attempt, call_next: CallNext) -> None: ...
    async def two(attempt: Attempt, call_next: CallNext) -> None: ...

    assert checked_options({}, [one, two]).middlewares == (one, two)
    assert msgspec.structs.asdict(checked_options({}, [])) == msgspec.structs.asdict(CheckedKindOptions())
