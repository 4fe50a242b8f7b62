"""`client.schedules`, under trio and under asyncio."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from leasehold import App, Client, NewJob, Unique
from leasehold.errors import BadInput, InvalidArgs, UnknownKind, UnknownSchedule, WrongState
from tests.leasehold.client.conftest import with_client

app = App()


@app.kind(queue="slow", priority=3)
async def clean_up(days: int = 30) -> None: ...


@app.kind()
async def crawl(shop: int, deep: bool = False) -> None: ...


@with_client()
async def test_a_schedule_is_made_of_a_job_and_read(client: Client) -> None:
    made = await client.schedules.create(
        clean_up.new(days=7),
        name="nightly",
        cron="0 3 * * *",
        zone="Europe/Berlin",
        stagger=timedelta(minutes=5),
        starts_at=datetime(2030, 1, 1, tzinfo=UTC),
        by="Ada",
    )
    assert (made.kind, made.args, made.queue, made.priority, made.zone, made.stagger, made.updated_by) == (
        "clean_up",
        {"days": 7},
        "slow",
        3,
        "Europe/Berlin",
        300,
        "Ada",
    )
    assert (made.next_run_at, made.last_run_at, made.declared, list(made.overridden)) == (None, None, None, [])
    assert await client.schedules.get("nightly") == await client.schedules.get(str(made.id)) == made
    with pytest.raises(WrongState, match="there is a schedule 'nightly' already"):
        await client.schedules.create(clean_up.new(), name="nightly", every=60)


@with_client()
async def test_a_change_leaves_the_rest_and_none_brings_back_the_default(client: Client) -> None:
    await client.schedules.create(NewJob(kind="echo"), name="s", cron="@daily", zone="Asia/Tokyo", grace=5)
    changed = await client.schedules.update("s", every=timedelta(hours=1), queue="q", args={"a": [1]}, revision=1)
    assert (changed.every, changed.cron, changed.zone, changed.queue, changed.args, changed.grace) == (
        3600,
        None,
        "Asia/Tokyo",
        "q",
        {"a": [1]},
        5,
    )
    assert (await client.schedules.update("s", grace=None)).grace == 60
    with pytest.raises(WrongState, match="has revision 3 by now, not 1"):
        await client.schedules.update("s", revision=1, grace=1)
    with pytest.raises(BadInput, match="nothing to change of schedule 's' is given"):
        await client.schedules.update("s")
    with pytest.raises(BadInput, match="give one of every, cron, at, not every and cron"):
        await client.schedules.update("s", every=5, cron="@daily")
    with pytest.raises(BadInput, match="there is no grce; did you mean grace"):
        await client.schedules.update("s", grce=1)  # pyright: ignore[reportCallIssue]


@with_client()
async def test_an_operators_change_of_a_declared_schedule_is_undone_by_reset(client: Client) -> None:
    declared = '{"name": "s", "kind": "echo", "every": 60}'
    await client._database.call("declare_schedule", declared)  # pyright: ignore[reportPrivateUsage]
    changed = await client.schedules.update("s", every=30)
    assert (changed.every, changed.overridden) == (30, ["at", "cron", "every"])
    again = await client.schedules.reset("s", by="Ada")
    assert (again.every, again.overridden, again.updated_by) == (60, [], "Ada")
    assert again.declared is not None


@with_client()
async def test_put_makes_or_replaces(client: Client) -> None:
    first = await client.schedules.put({"name": "s", "kind": "echo", "every": 60, "stagger": 5})
    second = await client.schedules.put({"name": "s", "kind": "echo", "every": 60}, revision=first.revision)
    assert (first.id, first.stagger, second.stagger) == (second.id, 5, 0)
    with pytest.raises(UnknownSchedule):
        await client.schedules.put({"name": "t", "kind": "echo", "every": 60}, revision=1)


@with_client()
async def test_schedules_are_listed_by_name_and_filtered(client: Client) -> None:
    for name, queue in (("b", "slow"), ("a", "fast"), ("c", "slow")):
        await client.schedules.create(NewJob(kind=name, queue=queue), name=name, every=60)
    assert await client.schedules.disable("b")
    assert not await client.schedules.disable("b")
    names = [each.name for each in await client.schedules.list(page_size=2)]
    assert names == ["a", "b"]
    assert [each.name for each in await client.schedules.list(after_name="b")] == ["c"]
    assert [each.name for each in await client.schedules.list(queue="slow", enabled=True)] == ["c"]
    assert [each.name for each in await client.schedules.list(kind="a")] == ["a"]
    assert await client.schedules.enable("b")
    await client.schedules.delete("b")
    assert [each.name for each in await client.schedules.list()] == ["a", "c"]


@with_client()
async def test_what_is_not_there_is_an_unknown_schedule(client: Client) -> None:
    schedules = client.schedules
    for call in (
        schedules.get,
        schedules.delete,
        schedules.enable,
        schedules.disable,
        schedules.trigger,
        schedules.generate,
        schedules.preview,
        schedules.history,
        schedules.reset,
    ):
        with pytest.raises(UnknownSchedule, match="there is no schedule 'none'"):
            await call("none")
    with pytest.raises(UnknownSchedule):
        await schedules.update("none", grace=1)


@with_client(app=app)
async def test_firing_by_hand_makes_jobs_and_a_day_is_generated_once(client: Client) -> None:
    query = "select g as shop, g > 1 as deep, 'shop-' || g as key from generate_series(1, 2) g"
    schedule = await client.schedules.create_from({"name": "s", "kind": "crawl", "every": 60, "query": query})
    fired = await client.schedules.trigger(str(schedule.id))
    assert (fired.schedule, fired.job_count, fired.is_new) == ("s", 2, True)
    job = await client.get(fired.job_ids[1])
    assert (job.args, job.key, job.metadata["schedule"]) == ({"shop": 2, "deep": True}, "shop-2", "s")
    made = await client.schedules.generate("s", date=date(2030, 1, 31), batches=2)
    again = await client.schedules.generate(str(schedule.id), date=date(2030, 1, 31))
    assert (made.tick_at, made.is_new, again.is_new) == (datetime(2030, 1, 31, tzinfo=UTC), True, False)
    assert (made.schedule, again.schedule) == ("s", "s")
    assert list(again.job_ids) == list(made.job_ids)
    newest, oldest = await client.schedules.history("s")
    assert (newest.origin, oldest.origin, oldest.outcome, oldest.job_count) == ("generate", "trigger", "fired", 2)
    assert await client.schedules.history(before_id=newest.id) == [oldest]
    assert await client.schedules.history(outcome="failed") == []
    assert await client.schedules.rows("s", limit=1) == [{"shop": 1, "deep": False, "key": "shop-1"}]
    assert len(await client.schedules.rows("s")) == 2
    await client.schedules.update("s", query=None, args={"shop": 7})
    with pytest.raises(BadInput, match="schedule 's' has no query"):
        await client.schedules.rows("s")
    with pytest.raises(BadInput, match="limit must be from 1 to 1000, not 0"):
        await client.schedules.rows("s", limit=0)


@with_client()
async def test_the_next_ticks_are_told_before_and_after_it_is_made(client: Client) -> None:
    after = datetime(2030, 10, 26, 12, tzinfo=UTC)
    unsaved = await client.schedules.preview_of(cron="30 2 * * *", zone="Europe/Berlin", count=2, after=after)
    await client.schedules.create(NewJob(kind="echo"), name="s", cron="30 2 * * *", zone="Europe/Berlin")
    assert await client.schedules.preview("s", count=2, after=after) == unsaved
    assert [(each.local.isoformat(), each.note) for each in unsaved] == [
        ("2030-10-27T02:30:00+02:00", "repeated"),
        ("2030-10-28T02:30:00+01:00", None),
    ]
    first, second = await client.schedules.preview_of(every=90, count=2)
    assert second.at - first.at == timedelta(seconds=90)
    with pytest.raises(BadInput, match="a preview has 1 to 1000 ticks, not 0"):
        await client.schedules.preview("s", count=0)


@with_client(app=app)
async def test_a_client_with_an_app_refuses_what_the_handlers_do_not_take(client: Client) -> None:
    schedules = client.schedules
    with pytest.raises(UnknownKind, match="'echoo'"):
        await schedules.create(NewJob(kind="echoo"), name="s", every=60)
    with pytest.raises(InvalidArgs, match="missing required field `shop`"):
        await schedules.check({"name": "s", "kind": "crawl", "every": 60})
    with pytest.raises(InvalidArgs, match="not depth"):
        await schedules.check({"name": "s", "kind": "crawl", "args": {"depth": 1}, "every": 60, "query": "select 1"})
    made = await schedules.create(clean_up.new(), name="s", every=60)
    with pytest.raises(InvalidArgs, match=r"Expected `int`"):
        await schedules.update("s", args={"days": "many"})
    assert await schedules.get("s") == made
    assert (await schedules.update("s", kind="crawl", args={"shop": 7})).kind == "crawl"


@with_client()
async def test_jobs_are_enqueued_for_some_rows_of_a_query(client: Client) -> None:
    stores = (
        "select 'store-' || n as key, n as shop, jsonb_build_object('state', s) as metadata"
        " from (values (1, 'AZ'), (2, 'CA')) v(n, s)"
    )
    fields = {"kind": "crawl", "name": "all", "every": 3600, "query": stores, "enabled": False}
    await client.schedules.create_from(fields)
    looked = await client.schedules.enqueue_rows("all", dry_run=True)
    assert [(each.key, each.job_id) for each in looked] == [("store-1", None), ("store-2", None)]
    [made] = await client.schedules.enqueue_rows("all", metadata={"state": "CA"}, priority=4)
    job = await client.get(made.job_id or 0)
    assert (job.kind, job.args, job.key, job.priority, job.state) == ("crawl", {"shop": 2}, "store-2", 4, "pending")
    once = Unique(by=["kind", "key"])
    [first] = await client.schedules.enqueue_rows("all", keys=["store-1"], unique=once)
    [again] = await client.schedules.enqueue_rows("all", keys=["store-1"], unique=once)
    assert (first.is_new, again.is_new, again.job_id) == (True, False, first.job_id)
    with pytest.raises(BadInput, match="has nation in its metadata"):
        await client.schedules.enqueue_rows("all", metadata={"nation": "US"})
    with pytest.raises(BadInput, match="unique must be a Unique"):
        await client.schedules.enqueue_rows("all", unique="key")  # pyright: ignore[reportArgumentType]


@with_client(app=app)
async def test_a_query_is_tried_before_a_schedule_has_it(client: Client) -> None:
    found = await client.schedules.trial("select g as shop from generate_series(1, 30) g order by g desc", limit=2)
    assert (found.jobs, found.rows) == (30, [{"shop": 30}, {"shop": 29}])
    assert (await client.schedules.trial("select 1 as shop where false")).rows == []
    with pytest.raises(BadInput, match="the query has more than 29 rows"):
        await client.schedules.trial("select * from generate_series(1, 30)", query_rows=29)
    for query in ("select 1 / 0 as shop", "select 1) q; drop table x; select (1", "create table x ()"):
        with pytest.raises(BadInput, match="query"):
            await client.schedules.trial(query)
    with pytest.raises(BadInput, match="limit must be from 1 to 1000, not 0"):
        await client.schedules.trial("select 1", limit=0)
