from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest
import trio

from leasehold import checkpoint
from leasehold.errors import BadInput
from leasehold.jobs.handling.retry import Discard, Reschedule, Retry, RetryPolicy


@pytest.mark.parametrize("wish", [Retry, Reschedule])
def test_a_wish_takes_seconds_or_a_timedelta_and_a_reason(wish: type[Retry] | type[Reschedule]) -> None:
    assert wish(2).after == 2.0
    assert wish(timedelta(minutes=1), "busy").after == 60.0
    assert str(wish(timedelta(minutes=1), "busy")) == "busy"
    assert "handler asked" in str(wish(0))


@pytest.mark.parametrize("wish", [Retry, Reschedule])
@pytest.mark.parametrize("after", [math.nan, math.inf, -1, timedelta(seconds=-1)])
def test_a_wish_for_no_time_at_all_is_refused(wish: type[Retry] | type[Reschedule], after: float) -> None:
    with pytest.raises(BadInput, match="after must be 0 or more seconds"):
        wish(after)


def test_a_discard_is_an_exception_with_a_reason() -> None:
    assert str(Discard("gone")) == "gone"


@pytest.mark.parametrize("policy", [{"initial": -1}, {"cap": -1}, {"multiplier": 0.5}, {"initial": math.nan}])
def test_a_policy_that_makes_no_sense_is_refused(policy: dict[str, float]) -> None:
    with pytest.raises(BadInput):
        RetryPolicy(**policy)


@pytest.mark.parametrize("value", ["5", True, None])
def test_a_policy_is_made_of_numbers(value: Any) -> None:
    for field in ("initial", "multiplier", "cap"):
        with pytest.raises(BadInput, match=f"^{field} of a RetryPolicy must be a number, not {value!r}"):
            RetryPolicy(**{field: value})


async def test_a_checkpoint_in_a_thread_ends_a_cancelled_handler_there_and_nowhere_else() -> None:
    steps: list[str] = []

    def handler() -> None:
        checkpoint()
        steps.append("before")
        trio.from_thread.run_sync(scope.cancel)
        steps.append("after the cancellation")
        checkpoint()
        steps.append("never")

    with trio.CancelScope() as scope:
        await trio.to_thread.run_sync(handler)
    assert scope.cancelled_caught
    assert steps == ["before", "after the cancellation"]


def test_a_checkpoint_outside_of_a_worker_says_so() -> None:
    with pytest.raises(RuntimeError):
        checkpoint()
