from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from leasehold.actors.attempts.outcome import (
    MOST_MESSAGE,
    MOST_OUTPUT_BYTES,
    Completed,
    Failed,
    Outcome,
    Rescheduled,
    completed,
    describe,
    raised,
)
from leasehold.jobs.endings import ContinueWith, Discard, Reschedule, Retry
from leasehold.jobs.kind import CheckedKindOptions, Kind
from leasehold.jobs.new_job import NewJob
from tests.support.held import held_job


def failure(outcome: Outcome) -> Failed:
    assert isinstance(outcome, Failed)
    return outcome


def endless() -> Any:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def deep(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("output", "encoded"),
    [(None, None), (0, "0"), ("é\n", '"é\\n"'), ({"a": [1.5, True]}, '{"a":[1.5,true]}'), ({1: 2}, '{"1":2}')],
)
def test_what_a_handler_returns_becomes_json(output: object, encoded: str | None) -> None:
    held = held_job()
    assert completed(held, output) == Completed(held, encoded)


@pytest.mark.parametrize(
    ("output", "complaint"),
    [
        (math.nan, "nan is no JSON number"),
        ({"a": [math.inf]}, "output.a[0]: inf"),
        ("a\x00b", r"\u0000 cannot be kept"),
        ({"a\x00": 1}, r"\u0000 cannot be kept"),
        ("\ud800", "surrogates"),
        (object(), "object"),
        (Reschedule(after=5), "Reschedule is an exception: raise it instead of returning it"),
        (deep(200), "nested deeper than 100"),
        (deep(100_000), "nested deeper than 100"),
        (endless(), "nested deeper than 100"),
        ("x" * MOST_OUTPUT_BYTES, "1048576 is the most; a payload store takes more (LEASEHOLD_PAYLOADS_STORE)"),
    ],
    ids=[
        "nan",
        "inf",
        "nul",
        "nul in a key",
        "surrogate",
        "no json",
        "an exception",
        "deep",
        "very deep",
        "loop",
        "large",
    ],
)
def test_an_output_that_cannot_be_kept_fails_the_job_for_good_and_says_why(output: object, complaint: str) -> None:
    outcome = failure(completed(held_job(), output))
    assert outcome.error["type"] == "InvalidOutput"
    assert complaint in outcome.error["message"]
    assert outcome.discard


SHIP = NewJob[Any](kind="ship")


@pytest.mark.parametrize(
    "output", [SHIP, [SHIP], (1, SHIP), {"next": SHIP}, [ContinueWith(SHIP)]], ids=lambda each: type(each).__name__
)
def test_a_new_job_that_is_returned_as_an_output_fails_the_job_and_says_how_to_continue(output: object) -> None:
    outcome = failure(completed(held_job(), output))
    assert (outcome.error["type"], outcome.discard) == ("InvalidOutput", True)
    assert "`return job.continue_with(ship.new(…))`" in outcome.error["message"]


def test_retry_and_discard_are_told_to_the_database() -> None:
    held = held_job()
    assert failure(raised(held, Retry(after=2.5))).retry_in == 2.5
    assert failure(raised(held, Discard("never again"))).discard
    plain = failure(raised(held, ValueError("no")))
    assert (plain.retry_in, plain.discard) == (None, False)
    assert raised(held, Reschedule(1, "not\x00now")) == Rescheduled(held, 1.0, "not\ufffdnow")
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert raised(held, Reschedule(at=noon, reason="then")) == Rescheduled(held, None, "then", noon)


class Hollow(Reschedule):
    """Somebody forgot to call super().__init__."""

    def __init__(self) -> None:
        return


def test_an_exception_of_ours_that_somebody_broke_fails_the_attempt() -> None:
    assert "after" in failure(raised(held_job(), Hollow())).error["message"]


def test_an_error_is_told_with_type_message_and_traceback() -> None:
    with pytest.raises(KeyError) as caught:
        {}["amount"]
    told = describe(caught.value)
    assert told["type"] == "KeyError"
    assert told["message"] == "'amount'"
    assert '{}["amount"]' in told["traceback"]


def test_what_postgres_cannot_keep_is_replaced() -> None:
    told = describe(ValueError("nul \x00, surrogate \ud83d, and é"))
    assert told["message"] == "nul \ufffd, surrogate ?, and é"
    assert "\x00" not in told["traceback"]


def test_a_long_message_is_cut() -> None:
    assert len(describe(ValueError("x" * 1_000_000))["message"]) == MOST_MESSAGE


class Unprintable(Exception):
    def __str__(self) -> str:
        raise SystemExit("even its text fails")


def test_an_exception_that_cannot_be_printed_is_told_by_its_type() -> None:
    assert describe(Unprintable()) == {
        "type": "Unprintable",
        "message": "the exception cannot be printed",
        "traceback": f"{__name__}.Unprintable: <exception str() failed>\n",
    }


def test_an_output_that_contradicts_the_annotation_fails_for_good() -> None:
    async def measure() -> int:
        return cast("Any", "text")

    held = held_job(kind=Kind("measure", measure, None, CheckedKindOptions()))
    assert completed(held, 3) == Completed(held, "3")
    outcome = completed(held, "text")
    assert isinstance(outcome, Failed)
    assert (outcome.error["type"], outcome.discard) == ("InvalidOutput", True)
    assert outcome.error["message"].startswith("the output does not fit what measure is annotated to return, int: ")
