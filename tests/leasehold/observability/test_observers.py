from __future__ import annotations

from typing import Any

import msgspec
import pytest

from leasehold import App, events
from leasehold.events import ChainCreated, Event, JobCancelled, JobCreated, JobEvent
from leasehold.observability.observers import Observers

CREATED = JobCreated(job_id=1, kind="echo", queue="default")
CANCELLED = JobCancelled(job_id=1, was="pending", reason=None)
CHAIN = ChainCreated(chain_id=1, kind="echo", queue="default")


def test_a_subscriber_hears_events_of_its_type_and_of_those_below() -> None:
    observers, created, jobs, everything = Observers(), list[Event](), list[Event](), list[Event]()
    observers.subscribe(JobCreated, created.append)
    observers.subscribe(JobEvent, jobs.append)
    observers.subscribe(Event, everything.append)
    for event in (CREATED, CANCELLED, CHAIN):
        observers.emit(event)
    assert (created, jobs, everything) == ([CREATED], [CREATED, CANCELLED], [CREATED, CANCELLED, CHAIN])


def test_it_is_known_beforehand_whether_anybody_listens_and_a_subscription_can_be_ended() -> None:
    observers, heard = Observers(), list[Event]()
    assert observers.subscribed == {}
    end = observers.subscribe(JobEvent, heard.append)
    assert JobCreated in observers.subscribed
    assert ChainCreated not in observers.subscribed
    end()
    end()
    observers.emit(CREATED)
    assert (heard, observers.subscribed) == ([], {})


def test_two_subscriptions_of_one_function_are_two() -> None:
    observers, heard = Observers(), list[Event]()
    end = observers.subscribe(JobCreated, heard.append)
    observers.subscribe(Event, heard.append)
    observers.emit(CREATED)
    end()
    observers.emit(CREATED)
    assert heard == [CREATED] * 3


def test_an_app_merged_by_two_ways_tells_its_subscribers_once() -> None:
    inner, left, right, outer = Observers(), Observers(), Observers(), Observers()
    heard: list[Event] = []
    left.include(inner)
    right.include(inner)
    inner.subscribe(JobCreated, heard.append)
    outer.include(left)
    outer.include(right)
    inner.include(outer)
    end = inner.subscribe(JobCreated, heard.append)
    outer.emit(CREATED)
    assert heard == [CREATED] * 2
    end()
    outer.emit(CREATED)
    assert heard == [CREATED] * 3


def test_a_subscriber_that_raises_is_told_of_once_and_keeps_nobody_from_hearing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    observers, heard = Observers(), list[Event]()

    def broken(event: Event) -> None:
        raise SystemExit(3)

    observers.subscribe(JobCreated, broken)
    observers.subscribe(JobCreated, heard.append)
    observers.emit(CREATED)
    observers.emit(CREATED)
    assert heard == [CREATED] * 2
    [record] = [each for each in caplog.records if each.name == "leasehold.observability.observers"]
    assert "a subscriber raised at JobCreated" in record.getMessage()
    assert record.exc_info


def test_a_slow_subscriber_is_told_of_once(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    observers, now = Observers(), [0.0]
    monkeypatch.setattr("leasehold.observability.observers.monotonic", lambda: now[0])

    def slow(event: Event) -> None:
        now[0] += 0.06

    observers.subscribe(JobCreated, slow)
    observers.emit(CREATED)
    observers.emit(CREATED)
    [record] = [each for each in caplog.records if each.name == "leasehold.observability.observers"]
    assert record.getMessage().startswith("a subscriber held up the loop")


def test_a_subscriber_may_subscribe_and_end_its_subscription_while_it_hears() -> None:
    observers, heard = Observers(), list[str]()

    def once(event: Event) -> None:
        heard.append("once")
        end()
        observers.subscribe(JobCreated, lambda _: heard.append("later"))

    end = observers.subscribe(JobCreated, once)
    observers.emit(CREATED)
    observers.emit(CREATED)
    assert heard == ["once", "later"]


def test_what_is_no_event_cannot_be_subscribed_to() -> None:
    with pytest.raises(TypeError, match=r"takes a type of leasehold\.events, not <class 'int'>"):
        Observers().subscribe(int, print)  # type: ignore[type-var]


def test_merged_apps_keep_their_subscribers_those_to_come_as_well() -> None:
    inner, outer, heard = App(), App(), list[str]()
    inner.subscribe(JobCreated, lambda _: heard.append("before"))
    outer.merge(inner)
    outer.merge(App())
    end = inner.subscribe(JobCreated, lambda _: heard.append("after"))
    outer.observers.emit(CREATED)
    assert heard == ["before", "after"]
    end()
    heard.clear()
    inner.observers.emit(CREATED)
    outer.observers.emit(CREATED)
    assert heard == ["before", "before"]


def every_event() -> list[Any]:
    return [each for each in vars(events).values() if isinstance(each, type) and issubclass(each, Event)]


def test_events_are_values_with_a_name_and_a_promise() -> None:
    assert msgspec.to_builtins(CREATED) == {"event": "job_created", "job_id": 1, "kind": "echo", "queue": "default"}
    assert msgspec.json.decode(msgspec.json.encode(CREATED), type=JobCreated | ChainCreated) == CREATED
    for each in every_event():
        assert each.__doc__, each
        assert each.__struct_config__.frozen, each


def test_the_module_lists_every_event() -> None:
    assert [each.__name__ for each in every_event() if each.__name__ not in (events.__doc__ or "")] == []
