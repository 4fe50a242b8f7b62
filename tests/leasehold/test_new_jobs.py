"""Lists of new jobs as the SQL functions take them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
import pytest

from leasehold import App, ContinueWith, NewJob, WaitFor, ended
from leasehold.errors import BadInput, InvalidArgs
from leasehold.new_jobs import check_job, encode_continuation, encode_wait, flatten


def unchecked(job: NewJob[Any]) -> NewJob[Any]:
    return job


def kinds(jobs: list[dict[str, Any]]) -> list[str]:
    return [job["kind"] for job in jobs]


A, B, C = NewJob(kind="a"), NewJob(kind="b"), NewJob(kind="c")


def test_new_blockers_come_before_the_job_that_waits_for_them_and_are_named_by_position() -> None:
    inner = NewJob(kind="inner", blockers=[A, 7])
    flat, places = flatten([B, NewJob(kind="outer", blockers=[inner, C]), A], unchecked)
    assert [job.kind for job in flat] == ["b", "a", "inner", "c", "outer", "a"]
    assert places == [0, 4, 5]
    assert (flat[2].blockers, flat[4].blockers) == ([{"position": 2}, 7], [{"position": 3}, {"position": 4}])


def test_blockers_of_which_any_end_will_do_say_so() -> None:
    flat, places = flatten([NewJob(kind="outer", blockers=[ended(A), ended(7), B])], unchecked)
    assert flat[places[0]].blockers == [
        {"position": 1, "until": "ended"},
        {"chain": 7, "until": "ended"},
        {"position": 2},
    ]


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


def test_a_wait_takes_no_delay_that_is_no_number() -> None:
    with pytest.raises(BadInput):
        WaitFor([A], delay=float("nan"))


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
