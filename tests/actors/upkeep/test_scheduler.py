from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import pytest
import trio

from leasehold.actors.supervise import supervise
from leasehold.actors.upkeep.scheduler import Scheduler, declare_schedules, portions
from leasehold.actors.upkeep.ticks import Firing, Tick
from leasehold.database import Database, ReservedConnection
from leasehold.notify.channel import TickNotice
from leasehold.notify.switchboard import Switchboard
from tests.support.callers import FragileCaller
from tests.support.sql_schedules import create, history, jobs_made, schedule, set_plan
from tests.support.waiting import eventually, until

PAST = "2020-01-01T00:00:00Z"  # a one-shot of long ago is due at once


class Ticking:
    """A scheduler that runs."""

    def __init__(
        self,
        database: Database,
        reserved: ReservedConnection,
        poll_seconds: float,
        declared: Sequence[Mapping[str, Any]],
    ) -> None:
        self.database = database
        self.switchboard = Switchboard()
        self.reserved = FragileCaller(reserved)
        start_up = partial(declare_schedules, self.reserved, declared, None)
        self.scheduler = Scheduler(self.reserved, database, self.switchboard, poll_seconds, start_up)

    async def asleep(self) -> None:
        """Until it has looked and waits."""
        await until(lambda: "next_tick_in" in self.reserved.calls)
        await trio.testing.wait_all_tasks_blocked(0.01)

    async def ticks(self, count: int) -> list[tuple[str, str, str | None, int]]:
        """The history, once it has so many rows."""

        async def probe() -> list[tuple[str, str, str | None, int]] | None:
            found = await history(self.database)
            return found if len(found) >= count else None

        return await eventually(probe)


@asynccontextmanager
async def ticking(
    database: Database, poll_seconds: float = 600.0, declared: Sequence[Mapping[str, Any]] = ()
) -> AsyncGenerator[Ticking]:
    async with database.reserve("scheduler") as reserved, trio.open_nursery() as nursery:
        bundle = Ticking(database, reserved, poll_seconds, declared)
        nursery.start_soon(supervise, bundle.scheduler)
        yield bundle
        bundle.scheduler.drain()
        await until(lambda: not nursery.child_tasks)


async def create_soon(database: Database, name: str = "s", seconds: float = 0.3) -> None:
    """A one-shot in so many seconds, by the clock of the database."""
    at = (await database.fetch("select (clock_timestamp() + make_interval(secs => $1))::text", seconds))[0][0]
    await create(database, name, at=at)


async def test_a_schedule_fires_at_its_time(database: Database) -> None:
    await create_soon(database)
    async with ticking(database) as bundle:
        assert await bundle.ticks(1) == [("s", "fired", None, 1)]
    [entry] = await database.call("list_schedule_ticks")
    assert entry["fired_at"] >= entry["tick_at"]
    assert entry["fired_by"].startswith("scheduler ")
    assert (await schedule(database))["next_run_at"] is None


async def test_an_interval_goes_on_without_drifting(database: Database) -> None:
    await create(database, every=1)
    async with ticking(database) as bundle:
        await bundle.ticks(2)
    row = await schedule(database)
    *_, second, first = [entry["tick_at"] for entry in await database.call("list_schedule_ticks")]
    assert (first - row["anchor"]).total_seconds() == (second - first).total_seconds() == 1


async def test_a_change_wakes_it(database: Database) -> None:
    async with ticking(database) as bundle:
        for n, wake in enumerate(
            (lambda: bundle.switchboard.publish(TickNotice()), bundle.switchboard.publish_reconnect)
        ):
            await bundle.asleep()
            await create(database, f"s{n}", at=PAST)
            wake()
            await bundle.ticks(n + 1)


async def test_without_any_wake_up_the_poll_finds_it(database: Database) -> None:
    async with ticking(database, poll_seconds=0.1) as bundle:
        await bundle.asleep()
        await create(database, at=PAST)
        assert await bundle.ticks(1) == [("s", "fired", None, 1)]


async def test_before_its_first_round_it_declares_the_schedules_of_the_app_once(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    declared = [
        {"name": "good", "kind": "echo", "at": PAST},
        {"name": "bad", "kind": "echo"},
        {"name": "later", "kind": "echo", "cron": "0 0 29 2 *"},
    ]
    async with ticking(database, declared=declared) as bundle:
        assert await bundle.ticks(1) == [("good", "fired", None, 1)]
        assert bundle.reserved.calls[0] == "declare_schedule"
    assert [row["name"] for row in await database.call("list_schedules")] == ["good", "later"]
    assert "schedule 'bad' of the app is refused: give exactly one of every, cron and at" in caplog.text
    async with ticking(database, declared=declared) as bundle:
        await bundle.asleep()
    assert len(await history(database)) == 1


async def test_each_row_of_a_query_makes_a_job(database: Database) -> None:
    await create(
        database, at=PAST, args={"deep": True}, query="select n as shop, 'k' || n as key from generate_series(1, 3) n"
    )
    async with ticking(database) as bundle:
        assert await bundle.ticks(1) == [("s", "fired", None, 3)]
    jobs = await jobs_made(database)
    assert [(job["key"], json.loads(job["args"])) for job in jobs] == [
        (f"k{n}", {"deep": True, "shop": n}) for n in (1, 2, 3)
    ]


async def test_what_goes_wrong_with_one_schedule_is_written_down_and_stops_no_other(database: Database) -> None:
    await create(database, "divides", at=PAST, query="select 1 / (n - n) from generate_series(1, 2) n")
    await create(database, "too many", at=PAST, query="select generate_series(1, 3)", query_rows=2)
    await create(database, "too slow", at=PAST, query="select pg_sleep(60)", query_timeout=0.05)
    await create(database, "no job", at=PAST, query="select 5 as key")
    await create(database, "no cron", cron="61 * * * *")
    await create(database, "fine", at=PAST)
    await create(database, "fine too", at=PAST, query="select 1 as n")
    async with ticking(database) as bundle:
        found = {name: (outcome, error) for name, outcome, error, _ in await bundle.ticks(6)}
    assert found["fine"] == found["fine too"] == ("fired", None)
    words = {
        "divides": "division by zero",
        "too many": "more than 2 rows",
        "too slow": "was cancelled",
        "no job": "key must be a string",
    }
    for name, word in words.items():
        outcome, error = found[name]
        assert outcome == "failed"
        assert word in (error or "")
        assert word in (await schedule(database, name))["last_error"]
    assert "Bad minute" in (await schedule(database, "no cron"))["last_error"]


async def test_one_that_is_refused_together_with_others_is_refused_alone(database: Database) -> None:
    """A row that was changed by hand to what create_schedule refuses."""
    await create(database, "good", at=PAST)
    await create(database, "bad", at=PAST)
    await database.fetch("update leasehold.schedules set key = repeat('x', 600) where name = 'bad'")
    async with ticking(database) as bundle:
        found = {name: outcome for name, outcome, _, _ in await bundle.ticks(2)}
    assert found == {"good": "fired", "bad": "failed"}


async def test_a_query_that_loses_its_connection_again_and_again_has_failed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leasehold.actors.upkeep.scheduler.ELSEWHERE_SECONDS", 0.01)
    await create(database, "suicidal", at=PAST, query="select pg_terminate_backend(pg_backend_pid())")
    async with ticking(database) as bundle:
        [(_, outcome, error, _)] = await bundle.ticks(1)
        assert outcome == "failed"
        assert "terminating connection" in (error or "")
        await create_soon(database, "fine", 0.05)
        bundle.switchboard.publish(TickNotice())
        assert (await bundle.ticks(2))[1] == ("fine", "fired", None, 1)


async def test_one_whose_ticks_this_scheduler_cannot_tell_is_left_to_others(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """Planned by a scheduler whose machine knows its time zone."""
    await set_plan(database, await create(database, "odd", cron="@daily"), PAST)
    await database.fetch("update leasehold.schedules set zone = 'Mars/Base' where name = 'odd'")
    await create(database, "fine", at=PAST)
    async with ticking(database) as bundle:
        assert await bundle.ticks(1) == [("fine", "fired", None, 1)]
        await bundle.asleep()
    assert caplog.text.count("schedule 'odd' is due and this scheduler cannot tell its ticks") == 1


async def test_the_clock_of_its_machine_does_not_matter(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m benchmarks ticks` has a whole process in another time."""
    real, real_ns = time.time, time.time_ns
    monkeypatch.setattr("time.time", lambda: real() + 3600)
    monkeypatch.setattr("time.time_ns", lambda: real_ns() + 3600 * 10**9)
    await create_soon(database, "soon", 0.2)
    await create_soon(database, "in half an hour", 1800)
    async with ticking(database) as bundle:
        assert await bundle.ticks(1) == [("soon", "fired", None, 1)]
        await bundle.asleep()
    assert len(await history(database)) == 1


async def test_of_many_schedulers_one_fires_each_tick(database: Database) -> None:
    for n in range(20):
        await create(database, f"s{n}", at=PAST, **({"query": "select 1 as n"} if n % 4 == 0 else {}))
    async with AsyncExitStack() as stack:
        bundles = [await stack.enter_async_context(ticking(database)) for _ in range(4)]
        await bundles[0].ticks(20)
    assert len(await history(database)) == len(await jobs_made(database)) == 20


@pytest.mark.parametrize("loss", ["lose_request", "lose_reply"])
async def test_a_tick_fires_once_although_the_connection_is_lost_in_the_middle(database: Database, loss: str) -> None:
    await create(database, at=PAST)
    await create(database, "rows", at=PAST, query="select 1 as n")
    async with ticking(database, poll_seconds=0.2) as bundle:
        getattr(bundle.reserved, loss).update({"fire_schedules", "plan_schedules"})
        assert sorted(await bundle.ticks(2)) == [("rows", "fired", None, 1), ("s", "fired", None, 1)]
        await bundle.asleep()
    assert len(await jobs_made(database)) == 2


async def test_it_ends_although_a_query_runs_and_leaves_the_tick_to_others(database: Database) -> None:
    await create(database, at=PAST, query="select pg_sleep(60)")
    async with ticking(database):
        await eventually(lambda: running(database))
    assert await history(database) == []
    assert (await schedule(database))["next_run_at"] is not None


async def running(database: Database) -> bool:
    rows = await database.fetch(
        "select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()"
    )
    return rows[0][0] > 0


async def test_what_others_run_is_left_to_them_without_asking_all_the_time(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leasehold.actors.upkeep.scheduler.ELSEWHERE_SECONDS", 600.0)
    await set_plan(database, await create(database, every=60, query="select 1 as n"), PAST)
    row = await schedule(database)
    async with database.transaction() as other:
        assert await other.call_value("lock_schedule_query", row["id"], row["next_run_at"], 30.0)
        async with ticking(database) as bundle:
            await until(lambda: bundle.reserved.calls.count("next_tick_in") >= 2)
            await trio.testing.wait_all_tasks_blocked(0.05)
            assert bundle.reserved.calls.count("next_tick_in") < 6
    assert await history(database) == []


def test_ticks_are_fired_in_portions() -> None:
    def firing(count: int) -> Firing:
        ticks = [Tick(at=n, outcome="fired") for n in range(count)]  # pyright: ignore[reportArgumentType]
        return Firing(id=count, revision=1, expected=None, next=None, ticks=ticks)  # pyright: ignore[reportArgumentType]

    sizes = [500, 500, 1, 5000, 3]
    assert [[each.id for each in some] for some in portions([firing(size) for size in sizes])] == [
        [500, 500],
        [1],
        [5000],
        [3],
    ]
    assert list(portions([])) == []
