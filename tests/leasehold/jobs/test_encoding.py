"""Lists of new jobs as the SQL functions take them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from leasehold import App, ContinueWith, NewJob, WaitFor, ended
from leasehold.client import Client
from leasehold.database import Database
from leasehold.errors import BadInput, InvalidArgs
from leasehold.jobs.encoding import check_job, encode_continuation, encode_wait, flatten


def unchecked(job: NewJob[Any]) -> NewJob[Any]:
    return job


def kinds(jobs: list[dict[str, Any]]) -> list[str]:
    return [job["kind"] for job in jobs]


A, B, C = NewJob(kind="a"), NewJob(kind="b"), NewJob(kind="c")


def test_new_blockers_come_before_the_job_that_waits_for_them_and_are_named_by_position() -> None:
    inner = NewJob(kind="inner", blockers=[A, 7])
    flat: list[NewJob[Any]] = []
    places = flatten([B, NewJob(kind="outer", blockers=[inner, C]), A], flat, unchecked)
    assert [job.kind for job in flat] == ["b", "a", "inner", "c", "outer", "a"]
    assert places == [0, 4, 5]
    assert (flat[2].blockers, flat[4].blockers) == ([{"position": 2}, 7], [{"position": 3}, {"position": 4}])


def test_blockers_of_which_any_end_will_do_say_so() -> None:
    flat: list[NewJob[Any]] = []
    places = flatten([NewJob(kind="outer", blockers=[ended(A), ended(7), B])], flat, unchecked)
    assert flat[places[0]].blockers == [
        {"position": 1, "until": "ended"},
        {"chain": 7, "until": "ended"},
        {"position": 2},
    ]


def test_new_blockers_of_a_job_with_an_idempotency_key_have_keys_of_their_own() -> None:
    own = NewJob(kind="own", idempotency_key="mine")
    inner = NewJob(kind="inner", blockers=[A])
    flat: list[NewJob[Any]] = []
    flatten([NewJob(kind="outer", blockers=[inner, own, ended(B), 7], idempotency_key="k")], flat, unchecked)
    assert {job.kind: job.idempotency_key for job in flat} == {
        "a": "k #1 #1",
        "inner": "k #1",
        "own": "mine",
        "b": "k #3",
        "outer": "k",
    }


async def test_who_sends_a_job_with_an_idempotency_key_again_sends_its_new_blockers_again(database: Database) -> None:
    job = NewJob(kind="outer", blockers=[A, ended(B)], idempotency_key="k")
    client = Client(database)
    assert await client.enqueue(job) == await client.enqueue(job)
    assert await database.fetch("select count(*) from leasehold.jobs having count(*) <> 3") == []


def test_a_continuation_names_its_fan_out_before_the_next_job_and_keeps_the_order_of_slots() -> None:
    end = ContinueWith(NewJob(kind="next", blockers=[A]), blockers=[B, 42], jobs=[C])
    document = msgspec.json.decode(encode_continuation(end, [NewJob(kind="started")], unchecked))
    assert kinds(document["jobs"]) == ["started", "c", "a", "b"]
    assert document["next"]["blockers"] == [{"position": 3}, {"position": 4}, 42]


def test_an_end_without_a_next_job_is_only_its_jobs() -> None:
    document = msgspec.json.decode(encode_continuation(None, [A, B], unchecked))
    assert (kinds(document["jobs"]), "next" in document) == (["a", "b"], False)


def test_a_wait_holds_its_new_jobs_and_what_it_waits_for() -> None:
    document = msgspec.json.decode(encode_wait(WaitFor([5, A, B], delay=3), unchecked))
    assert kinds(document["jobs"]) == ["a", "b"]
    assert (document["blockers"], document["delay"]) == ([5, {"position": 1}, {"position": 2}], 3.0)


@pytest.mark.parametrize("delay", [None, 0])
def test_waiting_for_nothing_is_refused_since_the_job_would_run_again_at_once(delay: float | None) -> None:
    with pytest.raises(BadInput, match="there is nothing to wait for"):
        encode_wait(WaitFor([], delay=delay), unchecked)


def test_a_wait_takes_a_timedelta_and_no_delay_that_is_less_than_nothing_or_no_number() -> None:
    assert WaitFor([A], delay=timedelta(minutes=1)).delay == 60.0
    for delay in (float("nan"), -1):
        with pytest.raises(BadInput):
            WaitFor([A], delay=delay)


def test_a_job_is_checked_against_its_kind_and_takes_what_the_kind_wants() -> None:
    app = App()

    @app.kind(queue="mail", priority=3)
    async def greet(name: str) -> None: ...

    checked = check_job(NewJob(kind="greet", args={"name": "Ada"}, metadata={"by": "test"}), greet)
    assert (checked.queue, checked.priority, checked.args) == ("mail", 3, msgspec.Raw(b'{"name":"Ada"}'))
    assert check_job(checked, greet) == checked
    with pytest.raises(InvalidArgs, match="greet"):
        check_job(NewJob(kind="greet", args={"name": 7}), greet)


@pytest.mark.parametrize("name", ["run_at", "deadline"])
def test_times_without_a_zone_are_refused(name: str) -> None:
    naive: Any = {name: datetime(2026, 1, 1)}
    with pytest.raises(BadInput, match=f"{name} must have a time zone"):
        check_job(NewJob(kind="a", **naive), None)


@pytest.mark.parametrize("deadline", [12, 12.0, timedelta(seconds=12)])
def test_a_deadline_is_a_number_of_seconds_or_a_timedelta(deadline: Any) -> None:
    for job in (NewJob(kind="a", deadline=deadline), A.but(deadline=deadline)):
        assert check_job(job, None).deadline == timedelta(seconds=12)


def test_a_delay_and_a_timeout_are_numbers_of_seconds_or_timedeltas() -> None:
    minute = timedelta(minutes=1)
    checked = check_job(NewJob(kind="a", delay=minute, timeout=minute), None)
    assert (checked.delay, checked.timeout) == (60.0, 60.0)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"delay": "5"}, "^delay must be a number of seconds or a timedelta, not '5'"),
        ({"delay": True}, "^delay must be a number of seconds or a timedelta, not True"),
        ({"delay": 10**400}, "^delay must be from 0 seconds to 100 years"),
        ({"timeout": "5"}, "^timeout must be a number of seconds or a timedelta, not '5'"),
        ({"timeout": 0}, "^timeout must be more than 0 seconds"),
        ({"run_at": 5}, "^run_at must be a datetime with a time zone, not 5"),
        ({"deadline": "5"}, "^deadline must be a datetime with a time zone, a number of seconds .*, not '5'"),
        ({"deadline": True}, "^deadline must be a datetime with a time zone, a number of seconds .*, not True"),
        ({"deadline": float("nan")}, "^deadline must be more than 0 seconds from now .*, not nan"),
        ({"deadline": -1}, "^deadline must be more than 0 seconds from now .*, not -1"),
        ({"priority": 1.5}, "^priority must be an integer .*, not 1.5"),
        ({"max_attempts": "5"}, "^max_attempts must be an integer .*, not '5'"),
        ({"kind": 5}, "^kind must be text, not 5"),
        ({"queue": 5}, "^queue must be text, not 5"),
        ({"key": b"5"}, "^key must be text, not b'5'"),
        ({"unique": "key"}, "^unique must be a Unique, not 'key'"),
        ({"blockers": 5}, "^blockers must be a list of chains and jobs, not 5"),
        ({"args": 5}, "^args must be a mapping of names to values .*, not 5"),
    ],
    ids=str,
)
def test_values_of_another_type_are_refused_with_the_name_of_their_field(
    fields: dict[str, Any], complaint: str
) -> None:
    given: dict[str, Any] = {"kind": "a"} | fields
    with pytest.raises(BadInput, match=complaint):
        check_job(NewJob(**given), None)


def test_what_is_no_job_is_refused_wherever_jobs_are_taken() -> None:
    app = App()

    @app.kind
    async def part(n: int) -> None: ...

    kind: Any = part
    with pytest.raises(BadInput, match=r"blockers takes ids .*did you mean part\.new\(…\)\?"):
        flatten([NewJob(kind="a", blockers=[kind])], [], unchecked)
    with pytest.raises(BadInput, match=r"continue_with takes a job .*did you mean part\.new\(…\)\?"):
        encode_continuation(ContinueWith(kind), [], unchecked)
