from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from leasehold.app import App
from leasehold.app.registry import with_builtins
from leasehold.errors import BadInput, DuplicateSchedule, InvalidArgs
from leasehold.jobs.kind import Kind
from leasehold.jobs.new_job import NewJob, Unique


@pytest.fixture
def app() -> App:
    return App()


@pytest.fixture
def greet(app: App) -> Kind[..., Any]:
    async def greet(name: str, times: int = 1) -> str:
        return f"hello {name}" * times

    return app.kind(queue="mail", priority=2)(greet)


def test_a_schedule_of_a_handler_stands_above_it_and_leaves_it_as_it_is(app: App) -> None:
    @app.schedule(cron="0 3 * * *", zone="Europe/Berlin", missed="skip")
    @app.schedule(every=timedelta(hours=1), name="hourly", args={"days": 1})
    @app.kind(max_attempts=3)
    async def clean_up(days: int = 30) -> int:
        return days

    assert clean_up.new(days=2).kind == "clean_up"
    assert app.schedules == [
        {"name": "hourly", "kind": "clean_up", "args": {"days": 1}, "max_attempts": 3, "every": 3600.0},
        {
            "name": "clean_up",
            "kind": "clean_up",
            "max_attempts": 3,
            "cron": "0 3 * * *",
            "zone": "Europe/Berlin",
            "missed": "skip",
        },
    ]


def test_a_schedule_may_be_declared_for_a_job_or_a_query(app: App, greet: Kind[..., Any]) -> None:
    job = greet.new(name="Ada").but(key="ada", timeout=5)
    made = app.schedule(
        job,
        name="ada",
        at=datetime(2030, 1, 31, 9, tzinfo=UTC),
        queue="slow",
        metadata={"team": ["a"]},
    )
    assert made == {
        "name": "ada",
        "kind": "greet",
        "args": {"name": "Ada"},
        "queue": "slow",
        "priority": 2,
        "key": "ada",
        "timeout": 5.0,
        "metadata": {"team": ["a"]},
        "at": "2030-01-31T09:00:00Z",
    }
    many = app.schedule(greet, query="select name from people", every=60, stagger=timedelta(minutes=5))
    assert (many["name"], many["query"], many["stagger"]) == ("greet", "select name from people", 300.0)
    assert app.schedules == [made, many]


def test_a_name_is_given_once(app: App, greet: Kind[..., Any]) -> None:
    app.schedule(greet.new("Ada"), every=60)
    with pytest.raises(DuplicateSchedule, match="schedule 'greet' is declared already; give one of them another name"):
        app.schedule(greet.new("Bob"), every=60)


@pytest.mark.parametrize("name", ["7", ".", "..", "shop/crawl"])
def test_a_name_that_no_path_could_say_is_refused_where_it_is_declared(
    name: str, app: App, greet: Kind[..., Any]
) -> None:
    with pytest.raises(BadInput, match=f"schedule '{re.escape(name)}': name must not be all digits"):
        app.schedule(greet.new("Ada"), name=name, every=60)


def test_merging_apps_takes_over_their_schedules(app: App, greet: Kind[..., Any]) -> None:
    app.schedule(greet.new("Ada"), every=60)
    served = with_builtins(app)
    assert served.schedules == app.schedules
    other = App()
    other.schedule(NewJob(kind="echo"), name="greet", every=60)
    with pytest.raises(DuplicateSchedule):
        other.merge(app)


def test_args_are_refused_where_the_schedule_is_declared(app: App, greet: Kind[..., Any]) -> None:
    with pytest.raises(InvalidArgs, match="missing required field `name`"):
        app.schedule(every=60)(greet)
    with pytest.raises(InvalidArgs, match=r"Expected `str`, got `int`"):
        app.schedule(every=60, args={"name": 7})(greet)
    with pytest.raises(InvalidArgs, match="Expected `int`"):
        app.schedule(NewJob(kind="greet", args={"name": "Ada", "times": "x"}), every=60)
    with pytest.raises(InvalidArgs, match=r"greet takes \(name, times\), not nmae"):
        app.schedule(greet, query="select 1", args={"nmae": "Ada"}, every=60)
    app.schedule(greet, query="select name from people", args={"times": 2}, every=60)


def test_what_belongs_to_one_job_is_refused_unless_only_the_kind_says_it(app: App) -> None:
    @app.kind(deadline=60, unique=Unique())
    async def ring() -> None: ...

    for job in (
        ring.new().but(delay=5),
        ring.new().but(unique=Unique()),
        ring.new().but(deadline=timedelta(seconds=5)),
    ):
        with pytest.raises(BadInput, match=r"its jobs cannot have \w+, which is about one job that is made now"):
            app.schedule(job, every=60)
    assert app.schedule(ring.new(), every=60) == {"name": "ring", "kind": "ring", "every": 60.0}


def test_what_is_neither_a_kind_nor_a_job_is_refused(app: App, greet: Kind[..., Any]) -> None:
    with pytest.raises(BadInput, match=r"put @app.schedule above @app.kind\(\)"):
        app.schedule(every=60)(lambda: None)  # pyright: ignore[reportArgumentType]
    with pytest.raises(BadInput, match="a job of greet has its args already; give the kind, and args or a query"):
        app.schedule(greet.new("Ada"), query="select 1", every=60)  # pyright: ignore[reportCallIssue, reportArgumentType]
