from __future__ import annotations

import json

import pytest
import trio

from leasehold.database import Database, open_database
from leasehold.errors import BadInput, WrongState
from tests.support.sources.making import counted, define, define_as, jobs_of, make_tables
from tests.support.sources.seeds import CLAIM
from tests.support.sql_kinds import ORDER, declare
from tests.support.waiting import until

FILL = """
insert into worker_tasks (role, dispensary_id, status, priority, scheduled_for, retry_count, platform)
values ('product_resync', 1, 'pending', 5, null, 1, 'dutchie'), ('product_resync', 2, 'stale', 0, '2099-01-10T06:00:00', 0, null),
       ('store_discovery', null, 'pending', 0, null, 0, null), ('product_resync', 3, 'running', 0, null, 0, null),
       ('product_resync', 3, 'pending', 0, null, 0, null), ('product_resync', 4, 'completed', 0, null, 0, null),
       ('product_resync', 5, 'failed', 0, null, 3, null)
"""


async def move(database: Database, batch: int = 1000) -> int:
    """Move one batch; returns how many rows moved."""
    return sum(row["moved"] for row in await database.call("move_jobs", None, batch))


async def test_pending_tasks_become_jobs_and_end_where_they_were(tasks: Database) -> None:
    await tasks.execute(FILL)
    await tasks.call("seal_source")
    assert await move(tasks) == 3
    one, two, three = await jobs_of(tasks)
    assert (one["kind"], one["queue"], one["key"], one["state"]) == ("product_resync", "product_resync", "1", "pending")
    assert (one["priority"], one["max_attempts"], one["args"]) == (5, 3, {})
    assert one["metadata"] == {
        "platform": "dutchie",
        "moved_from": {"source": "worker_tasks", "table": "public.worker_tasks", "id": "1"},
    }
    assert (two["state"], two["run_at"].isoformat()) == ("scheduled", "2099-01-10T06:00:00+00:00")
    assert (three["kind"], three["key"], three["args"]) == ("store_discovery", None, {})
    assert await counted(tasks, "worker_tasks", "status") == {"failed": 4, "running": 1, "pending": 1, "completed": 1}
    assert await move(tasks) == 0


async def test_a_job_whose_key_still_runs_there_waits_until_it_does_not(tasks: Database) -> None:
    await tasks.execute(FILL)
    await tasks.call("seal_source")
    await move(tasks)
    await tasks.execute("update worker_tasks set status = 'completed' where status = 'running'")
    assert await move(tasks) == 1
    assert [each["key"] for each in await jobs_of(tasks)] == ["1", "2", None, "3"]


async def test_a_row_whose_values_cannot_be_read_stays_and_holds_nobody_up(database: Database) -> None:
    await database.execute("create table old (id int primary key, state text default 'new', doc jsonb)")
    columns = {
        "kind": "'a'",
        **{each: f"s.doc -> '{each}'" for each in ("priority", "run_at", "traceparent", "unique", "deadline", "key")},
    }
    part = {"table": "public.old", "id": "id", "state": "state", "states": {"new": "pending"}, "columns": columns}
    await define_as(database, "old", {"jobs": [part]})
    bad = [{"priority": 1.5}, {"run_at": "soon"}, {"traceparent": "x" * 201}, {"unique": 7}]
    bad += [{"deadline": "P1D", "key": "k" * 501}]
    reject = {"unique": {"key": "k", "on_conflict": "reject"}}
    for number, doc in enumerate([{"priority": 5, "deadline": "P1D"}, *bad, reject, {}]):
        await database.fetch("insert into old values ($1, default, $2::text::jsonb)", number, json.dumps(doc))
    [refused] = [row for row in await database.call("plan_move") if row["means"] == "refused"]
    assert (refused["row_count"], refused["complaint"][:28]) == (6, "key must have 1 to 500 bytes")
    await database.call("seal_source")
    assert (await move(database), await move(database)) == (2, 0)
    assert [each["metadata"]["moved_from"]["id"] for each in await jobs_of(database)] == ["0", "7"]


async def test_a_row_that_the_catalogue_refuses_stays_and_holds_nobody_up(tasks: Database) -> None:
    await declare(tasks, {"kind": "product_resync", "args_schema": ORDER})
    await tasks.execute(FILL)
    await tasks.call("seal_source")
    assert (await move(tasks, 1), await move(tasks)) == (1, 0)
    assert [each["kind"] for each in await jobs_of(tasks)] == ["store_discovery"]
    assert (await counted(tasks, "worker_tasks", "status"))["pending"] == 2


async def test_nothing_moves_while_its_own_workers_may_claim(tasks: Database) -> None:
    with pytest.raises(WrongState, match="source 'worker_tasks' is not sealed"):
        await move(tasks)
    with pytest.raises(BadInput, match="batch must be from 1 to 10000, not 0"):
        await move(tasks, 0)


async def test_a_mover_that_dies_on_the_way_has_moved_nothing_of_its_batch(tasks: Database) -> None:
    await tasks.execute(FILL)
    await tasks.call("seal_source")

    async def begin_and_die() -> None:
        async with tasks.transaction() as transaction:
            assert len(await transaction.call("move_jobs", None, 2)) == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await begin_and_die()
    assert await jobs_of(tasks) == []
    assert await counted(tasks, "leasehold.moved_rows", "outcome") == {}
    assert [await move(tasks, 2), await move(tasks, 2), await move(tasks, 2)] == [2, 1, 0]


async def test_two_movers_and_a_worker_of_the_old_queue_make_every_task_run_once(
    tasks: Database, database_url: str
) -> None:
    await tasks.execute("insert into worker_tasks (role) select 'store_discovery' from generate_series(1, 300)")
    claimed = list[int]()

    async def claim(database: Database) -> None:
        while found := await database.fetch(CLAIM, "old"):
            claimed.append(found[0]["id"])

    async def move_all(database: Database) -> None:
        while await move(database, 7):
            pass

    async with open_database(database_url) as other, trio.open_nursery() as nursery:
        nursery.start_soon(claim, other)
        await until(lambda: bool(claimed))
        await tasks.call("seal_source")
        nursery.start_soon(move_all, other)
        nursery.start_soon(move_all, tasks)
    jobs = [int(each["metadata"]["moved_from"]["id"]) for each in await jobs_of(tasks)]
    assert sorted(claimed + jobs) == list(range(1, 301))
    assert await counted(tasks, "leasehold.moved_rows", "outcome") == ({"moved": len(jobs)} if jobs else {})


async def test_discarding_ends_them_there_and_makes_no_jobs(tasks: Database) -> None:
    await tasks.execute(FILL)
    await tasks.call("seal_source")
    [row] = await tasks.call("move_jobs", None, 100, True)
    assert (row["moved"], row["cancelled"]) == (0, 3)
    assert await jobs_of(tasks) == []


async def test_what_is_refused_stays_and_holds_nobody_up(tasks: Database) -> None:
    await tasks.execute(FILL)
    await define_as(
        tasks,
        "worker_tasks",
        {
            "jobs": [
                {
                    "table": "public.worker_tasks",
                    "id": "id",
                    "state": "status",
                    "states": {"pending": "pending"},
                    "columns": {"kind": "s.role::text", "args": "case when s.id < 4 then '[]' else '{}'::jsonb end"},
                }
            ]
        },
    )
    await tasks.call("seal_source")
    assert await move(tasks, 1) == 1
    assert await move(tasks, 1) == 0
    assert await counted(tasks, "worker_tasks", "status") == {
        "pending": 2, "stale": 1, "running": 1, "completed": 1, "failed": 1,
    }  # fmt: skip


async def test_a_mapping_that_does_not_fit_says_where(database: Database) -> None:
    await define(database, "procrastinate")
    with pytest.raises(BadInput, match="the mapping of procrastinate does not fit"):
        await database.call("plan_move")


PROCRASTINATE = """
insert into procrastinate_jobs (queue_name, task_name, priority, lock, queueing_lock, args, status, scheduled_at)
values ('mail', 'app.send', 3, 'user 1', 'once', '{"to": "ada", "cc": null}', 'todo', null),
       ('mail', 'app.send', 0, null, null, '{}', 'todo', '2099-01-01T00:00:00Z'),
       ('mail', 'app.send', 0, null, null, '{}', 'succeeded', null)
"""


async def test_procrastinate_moves_in(database: Database, database_url: str) -> None:
    make_tables("procrastinate", database_url)
    await database.execute(PROCRASTINATE)
    await define(database, "procrastinate", {"kinds": {"app.send": "send"}})
    await database.call("seal_source")
    [fetched] = await database.fetch("select (procrastinate_fetch_job_v2(null, null)).id")
    assert fetched["id"] is None
    assert await move(database) == 2
    one, two = await jobs_of(database)
    assert (one["kind"], one["queue"], one["key"], one["priority"]) == ("send", "mail", "user 1", 3)
    assert (one["args"], two["state"]) == ({"to": "ada", "cc": None}, "scheduled")
    assert await counted(database, "procrastinate_jobs", "status") == {"cancelled": 2, "succeeded": 1}
    assert await counted(database, "leasehold.unique_jobs", "job_id is not null") == {"true": 1}


PGQUEUER = """
insert into pgqueuer (priority, status, entrypoint, dedupe_key, payload, execute_after, headers)
values (2, 'queued', 'fetch', 'a', '{"url": "x"}', now(), '{"trace": 1}'),
       (0, 'queued', 'fetch', null, 'plain', '2099-01-01T00:00:00Z', null),
       (0, 'picked', 'fetch', null, null, now(), null)
"""


async def test_pgqueuer_moves_in(database: Database, database_url: str) -> None:
    make_tables("pgqueuer", database_url)
    await database.execute(PGQUEUER)
    await database.execute(
        "insert into pgqueuer_schedules (expression, entrypoint) values ('*/5 * * * *', 'tidy'), ('0 6 * * * 30', 'tidy')"
    )
    await define(database, "pgqueuer")
    await database.call("seal_source")
    assert await move(database) == 2
    one, two = await jobs_of(database)
    assert (one["args"], one["metadata"]["headers"], one["priority"]) == ({"url": "x"}, {"trace": 1}, 2)
    assert (two["args"], two["state"]) == ({"payload": "plain"}, "scheduled")
    assert await counted(database, "pgqueuer", "status") == {"picked": 1}
    moved = await database.call("move_schedules")
    assert [(row["name"], row["outcome"]) for row in moved] == [
        ("tidy *|5 * * * *", "moved"),
        ("tidy 0 6 * * * 30", "moved"),
    ]
    crons = await counted(database, "leasehold.schedules", "cron")
    assert crons == {"*/5 * * * *": 1, "30 0 6 * * *": 1}
    assert await counted(database, "pgqueuer_schedules", "status") == {}


TASK = """
insert into django_tasks_database_dbtaskresult (id, status, enqueued_at, args_kwargs, priority, task_path, worker_ids,
    queue_name, backend_name, run_after, exception_class_path, traceback)
select gen_random_uuid(), s.status, now(), s.args::jsonb, 7, 'app.tasks.add', '[]', 'sums', 'default',
       s.run_after::timestamptz, '', ''
  from (values ('READY', '{"args": [1, 2], "kwargs": {"z": null}}', '9999-12-31'),
               ('READY', '{"args": [], "kwargs": {}}', '2099-01-01T00:00:00Z'),
               ('READY', '{"args": [1, 2, 3], "kwargs": {}}', '9999-12-31'),
               ('SUCCESSFUL', '{"args": [], "kwargs": {}}', '9999-12-31')) s(status, args, run_after)
"""


async def test_django_tasks_db_moves_in(database: Database, database_url: str) -> None:
    make_tables("django", database_url)
    await database.execute(TASK)
    await define(database, "django_tasks_db", {"positional": {"app.tasks.add": ["x", "y"]}})
    complaints = [row["complaint"] for row in await database.call("plan_move") if row["means"] == "refused"]
    assert complaints == ["app.tasks.add has 3 args without names, and `positional` names 2 of them"]
    await database.call("seal_source")
    assert await move(database) == 2
    jobs = {each["state"]: each for each in await jobs_of(database)}
    assert (jobs["pending"]["args"], jobs["pending"]["priority"]) == ({"x": 1, "y": 2, "z": None}, 7)
    assert (jobs["scheduled"]["queue"], jobs["scheduled"]["kind"]) == ("sums", "app.tasks.add")
    states = await counted(database, "django_tasks_database_dbtaskresult", "status")
    assert states == {"FAILED": 2, "READY": 1, "SUCCESSFUL": 1}
