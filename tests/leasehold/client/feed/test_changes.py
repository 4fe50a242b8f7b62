from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from leasehold import events
from leasehold.client.feed.changes import (
    EVENT_NAMES,
    REPORTED_EVENTS,
    Change,
    Wanted,
    instant_of,
    microseconds_of,
    refuse_unknown_events,
)
from leasehold.errors import BadInput
from leasehold.sql import read_folder

AT = datetime(2030, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)
CHANGE = Change(event="job_failed", at=AT, job_id=7, attempt=2, kind="crawl", queue="q", chain_id=5)
WORKER = Change(event="worker_started", at=AT, worker_id="w1")


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted(),
        Wanted(events=("job_completed", "job_failed")),
        Wanted(queues=("q",), kinds=("crawl",)),
        Wanted(job_id=7),
        Wanted(chain_id=5),
    ],
)
def test_a_change_that_fits_is_wanted(wanted: Wanted) -> None:
    assert wanted.has(CHANGE)


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted(events=("job_completed",)),
        Wanted(queues=("other",)),
        Wanted(queues=("q",), kinds=("parse",)),
        Wanted(job_id=5),
        Wanted(chain_id=7),
    ],
)
def test_a_change_that_does_not_fit_is_not_wanted_and_neither_is_a_worker(wanted: Wanted) -> None:
    assert not wanted.has(CHANGE)
    assert not wanted.has(WORKER)


def test_the_same_thing_read_twice_has_one_identity() -> None:
    other = Change(event="job_failed", at=AT, job_id=7, attempt=2, message="boom")
    assert other.identity == CHANGE.identity
    assert WORKER.identity != CHANGE.identity


def test_words_are_those_of_the_events() -> None:
    tags = {each.__struct_config__.tag for each in vars(events).values() if hasattr(each, "__struct_config__")}
    assert set(EVENT_NAMES.values()) - {"worker_started", "worker_stopped"} <= tags
    assert {"job_created", "job_claimed", "job_started", "job_completed", "job_failed", "job_cancelled"} <= tags
    assert {"job_reaped", "job_released", "job_rescheduled", "job_blocked", "job_unblocked"} <= tags


def test_instants_survive_to_the_microsecond() -> None:
    assert instant_of(microseconds_of(AT)) == AT


def test_every_word_that_the_database_writes_is_known() -> None:
    written = set[str]()
    for name, text in read_folder("functions").items():
        for found in re.finditer(
            r"insert into leasehold\.job_events\b.{0,120}?(?:select|values).{0,80}?'([a-z_]+)'", text, re.DOTALL
        ):
            written.add(found[1])
        written.update(re.findall(r"return_jobs\([^)]*'([a-z_]+)'", text) if name != "return_jobs" else ())
    assert {"attempt_failed", "released", "rescheduled", "edited", "reaped", "unblocked"} <= written
    words = {EVENT_NAMES.get(word, f"job_{word}") for word in written}
    assert words <= REPORTED_EVENTS, words - REPORTED_EVENTS


def test_events_that_there_are_none_of_are_refused_with_the_nearest() -> None:
    refuse_unknown_events(sorted(REPORTED_EVENTS))
    with pytest.raises(BadInput, match="did you mean job_completed"):
        refuse_unknown_events(["job_failed", "job_compleeted"])
