from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
import trio

from leasehold import checkpoint
from leasehold.errors import BadInput
from leasehold.jobs.endings import Reschedule, Retry, RetryPolicy


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


def test_a_reschedule_may_name_its_time_instead() -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    wish = Reschedule(at=noon, reason="they open then")
    assert (wish.at, wish.after, str(wish)) == (noon, None, "they open then")


@pytest.mark.parametrize(
    ("at", "complaint"),
    [
        (datetime(2026, 3, 1), "at must have a time zone, as datetime.now(UTC) has; 2026-03-01T00:00:00 has none"),
        ("noon", "at must be a datetime with a time zone, not 'noon'"),
        (60.0, "at must be a datetime with a time zone, not 60.0"),
        (date(2026, 3, 1), "at must be a datetime with a time zone, not datetime.date(2026, 3, 1)"),
    ],
)
def test_a_time_that_is_another_one_elsewhere_is_refused(at: Any, complaint: str) -> None:
    with pytest.raises(BadInput, match=re.escape(complaint)):
        Reschedule(at=at)


@pytest.mark.parametrize("given", [{}, {"after": 5, "at": datetime(2026, 3, 1, tzinfo=UTC)}])
def test_a_reschedule_has_a_wait_or_a_time(given: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=r"needs after=… or at=…, and not both"):
        Reschedule(**given)


@pytest.mark.parametrize(
    "policy", [{"initial": -1}, {"cap": -1}, {"multiplier": 0.5}, {"initial": math.nan}, {"step": -1}]
)
def test_a_policy_that_makes_no_sense_is_refused(policy: dict[str, float]) -> None:
    with pytest.raises(BadInput):
        RetryPolicy(**policy)


def test_a_linear_policy_has_a_step() -> None:
    assert RetryPolicy.linear(step=5, cap=60) == RetryPolicy(step=5, cap=60)
    with pytest.raises(BadInput, match=r"^step of a RetryPolicy must be a number, not '5'"):
        RetryPolicy.linear(step="5")  # pyright: ignore[reportArgumentType]


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
