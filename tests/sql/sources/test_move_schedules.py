from __future__ import annotations

from leasehold.database import Database
from tests.support.sources.making import counted, define, make_tables
from tests.support.sources.seeds import CRAWL_JOBS, WORKER_TASKS

FILL = """
insert into task_schedules (name, role, interval_hours, priority, state_code, next_run_at, enabled)
values ('store_discovery_dutchie', 'store_discovery', 24, 5, null, '2099-01-01T00:00:00Z', true),
       ('payload_fetch_all', 'payload_fetch', 4, 0, 'AZ', null, true), ('analytics_refresh', 'analytics_refresh', 6, 0,
       null, null, false)
"""


async def test_task_schedules_move_once_and_end_where_they_were(tasks: Database) -> None:
    await tasks.execute(FILL)
    moved = await tasks.call("move_schedules")
    assert [(row["name"], row["outcome"]) for row in moved] == [
        ("store_discovery_dutchie", "moved"),
        ("payload_fetch_all", "moved"),
        ("analytics_refresh", "moved"),
    ]
    rows = {row["name"]: row for row in await tasks.fetch("select * from leasehold.schedules")}
    discovery, fetching = rows["store_discovery_dutchie"], rows["payload_fetch_all"]
    assert (discovery["every"], discovery["priority"], discovery["enabled"]) == (86400, 5, True)
    assert discovery["starts_at"].isoformat() == "2099-01-01T00:00:00+00:00"
    assert fetching["query"].endswith("from public.dispensaries where state = 'AZ'")
    assert rows["analytics_refresh"]["enabled"] is False
    assert await counted(tasks, "task_schedules", "enabled") == {"false": 3}
    assert await tasks.call("move_schedules") == []


async def test_a_moved_schedule_makes_a_job_for_each_shop(tasks: Database) -> None:
    await tasks.execute(FILL)
    await tasks.call("move_schedules")
    [tick] = await tasks.call("trigger_schedule", "payload_fetch_all", None)
    assert tick["job_count"] == 5


async def test_a_dry_run_changes_nothing(tasks: Database) -> None:
    await tasks.execute(FILL)
    assert [row["outcome"] for row in await tasks.call("move_schedules", None, False, True)] == ["moved"] * 3
    assert await counted(tasks, "leasehold.schedules", "name") == {}
    assert await counted(tasks, "task_schedules", "enabled") == {"true": 2, "false": 1}


async def test_a_schedule_whose_name_is_taken_stays(tasks: Database) -> None:
    await tasks.execute(FILL)
    await tasks.call("create_schedule", '{"name": "analytics_refresh", "kind": "echo", "every": 60}')
    outcomes = {
        row["name"]: row["complaint"] for row in await tasks.call("move_schedules") if row["outcome"] == "refused"
    }
    assert outcomes == {"analytics_refresh": "there is a schedule 'analytics_refresh' already"}


async def test_disabled_first_they_still_move_as_enabled_ones(tasks: Database) -> None:
    await tasks.execute(FILL)
    assert [row["outcome"] for row in await tasks.call("move_schedules", None, True)] == ["disabled", "disabled"]
    assert await counted(tasks, "task_schedules", "enabled") == {"false": 3}
    await tasks.call("move_schedules")
    assert await counted(tasks, "leasehold.schedules", "enabled") == {"true": 2, "false": 1}


async def test_job_schedules_are_disabled_as_their_documents_say(database: Database) -> None:
    await database.execute(WORKER_TASKS + CRAWL_JOBS)
    await define(database, "crawl_jobs")
    assert [row["name"] for row in await database.call("move_schedules")] == ["crawl_all"]
    assert await counted(database, "leasehold.schedules", "name") == {}


BEAT = """
insert into django_celery_beat_crontabschedule (minute, hour, day_of_month, month_of_year, day_of_week, timezone)
values ('*/15', '6', '*', '*', 'mon-fri', 'Europe/Berlin'), ('0', '6', '1', '*', '1', 'UTC');
insert into django_celery_beat_intervalschedule (every, period) values (10, 'minutes');
insert into django_celery_beat_clockedschedule (clocked_time) values ('2099-01-01T00:00:00Z');
insert into django_celery_beat_solarschedule (event, latitude, longitude) values ('sunset', 1, 2);
insert into django_celery_beat_periodictasks (ident, last_update) values (1, '2000-01-01T00:00:00Z');
insert into django_celery_beat_periodictask (name, task, args, kwargs, queue, crontab_id, interval_id, clocked_id,
       solar_id, one_off, enabled,
    total_run_count, date_changed, description, headers)
select t.name, t.task, t.args, '{"deep": null}', t.queue, t.cron, t.every, t.clock, t.sun, t.clock is not null,
       t.enabled, 0, now(), 'kept', '{}'
  from (values ('a/report', 'app.report', '["week"]', 'slow', 1::bigint, null::bigint, null::bigint, null::bigint,
       true), ('ping', 'app.ping', '[]', null, null, 1, null, null, false),
               ('once', 'app.ping', '[]', null, null, null, 1, null, true), ('dusk', 'app.ping', '[]', null, null,
       null, null, 1, true),
               ('both', 'app.ping', '[]', null, 2, null, null, null, true), ('nameless', 'app.ping', '[1]', null, null,
       1, null, null, true))
       t(name, task, args, queue, cron, every, clock, sun, enabled)
"""


async def test_celery_beat_moves_in(database: Database, database_url: str) -> None:
    make_tables("django", database_url)
    await database.execute(BEAT)
    await define(database, "celery_beat", {"positional": {"app.report": ["span"]}, "kinds": {"app.ping": "ping"}})
    moved = {row["name"]: row["complaint"] for row in await database.call("move_schedules")}
    assert [name for name, complaint in moved.items() if complaint is None] == ["a:report", "ping", "once"]
    assert moved["dusk"].startswith("it follows the sun")
    assert moved["both"].startswith("its crontab names days of the month and of the week")
    assert moved["nameless"] == "app.ping has 1 args without names, and `positional` names 0 of them"
    rows = {row["name"]: row for row in await database.fetch("select *, args::text as json from leasehold.schedules")}
    report, ping = rows["a:report"], rows["ping"]
    assert (report["cron"], report["zone"], report["queue"]) == ("*/15 6 * * mon-fri", "Europe/Berlin", "slow")
    assert report["json"] == '{"deep": null, "span": "week"}'
    assert (ping["kind"], ping["every"], ping["enabled"], ping["description"]) == ("ping", 600, False, "kept")
    assert rows["once"]["at"].isoformat() == "2099-01-01T00:00:00+00:00"
    enabled = await database.fetch("select name from django_celery_beat_periodictask where enabled order by 1")
    assert [row["name"] for row in enabled] == ["both", "dusk", "nameless"]
    [told] = await database.fetch("select last_update > '2020-01-01' as anew from django_celery_beat_periodictasks")
    assert told["anew"], "a running beat reads its tables again only after this"
