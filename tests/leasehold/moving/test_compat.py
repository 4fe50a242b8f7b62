"""worker_tasks and task_schedules as views that can be written: what is written is done by our functions, or refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, LeaseLost, WrongState
from leasehold.gateway.compat.heartbeat import TaskHeartbeat, heartbeat_of
from leasehold.gateway.compat.tasks import DEFAULT_PRIORITIES, DEFAULT_RETRIES
from leasehold.moving.compat import compat_script
from tests.support.sql_jobs import enqueue, enqueue_many, job
from tests.support.sql_waits import meet_twice
from tests.support.sql_worker import SqlWorker

ROLE = "product_resync"
STORES = """
create table dispensaries (id serial primary key, state text);
insert into dispensaries (state) values ('AZ'), ('CO'), ('AZ')
"""


@pytest.fixture
async def tasks(fresh_database: Database) -> Database:
    """A database in which the views and functions are installed."""
    await fresh_database.execute(compat_script())
    return fresh_database


async def one(database: Database, sql: str, *args: object) -> Any:
    """The only value of the only row."""
    [[value]] = await database.fetch(sql, *args)
    return value


async def changed(database: Database, job_id: int, change: str) -> Any:
    """The task as the UPDATE returns it."""
    [row] = await database.fetch(f"update worker_tasks set {change} where id = $1 returning *", job_id)
    return row


async def test_a_task_that_is_inserted_is_a_job(tasks: Database) -> None:
    job_id = await one(
        tasks,
        "insert into worker_tasks (role, dispensary_id, platform, max_retries, payload, scheduled_for) "
        "values ('product_refresh', 456, 'dutchie', 1, '{\"payload_id\": 7}', now() + interval '1 hour') returning id",
    )
    made = await job(tasks, job_id)
    assert (made["kind"], made["queue"], made["key"], made["state"]) == (
        *("product_refresh", "product_refresh", "456"),
        "scheduled",
    )
    assert (made["max_attempts"], msgspec.json.decode(made["args"]), msgspec.json.decode(made["metadata"])) == (
        2,
        {"payload_id": 7},
        {"platform": "dutchie"},
    )
    [task] = await tasks.fetch("select * from worker_tasks")
    assert (task["status"], task["dispensary_id"], task["platform"]) == ("pending", 456, "dutchie")


async def test_defaults_are_those_of_tasks_over_http(tasks: Database) -> None:
    for role in (*DEFAULT_PRIORITIES, "store_discovery"):
        [task] = await tasks.fetch("insert into worker_tasks (role) values ($1) returning priority, max_retries", role)
        assert (task["priority"], task["max_retries"]) == (DEFAULT_PRIORITIES.get(role, 0), DEFAULT_RETRIES)


async def test_a_key_that_is_no_store_has_no_dispensary(tasks: Database) -> None:
    keys = {"7": 7, "-7": -7, "007": None, "2147483648": None, "2147483647": 2147483647, "shop": None}
    await enqueue_many(tasks, [{"kind": "a", "key": key} for key in keys])
    rows = await tasks.fetch("select dispensary_id from worker_tasks order by id")
    assert [row["dispensary_id"] for row in rows] == list(keys.values())


async def test_pending_by_hand_is_a_retry_and_failed_is_a_cancellation(tasks: Database) -> None:
    job_id = await enqueue(tasks, queue=ROLE)
    failed = await changed(tasks, job_id, "status = 'failed', error_message = 'shop has closed'")
    assert (failed["status"], failed["error_message"]) == ("failed", "shop has closed")
    assert (await job(tasks, job_id))["state"] == "cancelled"
    again = await changed(
        tasks, job_id, "status = 'pending', retry_count = retry_count + 1, error_message = null, priority = 5"
    )
    assert (again["status"], again["priority"], again["completed_at"]) == ("pending", 5, None)


async def test_pending_takes_a_task_back_from_its_worker(tasks: Database) -> None:
    job_id = await enqueue(tasks)
    worker = SqlWorker(tasks)
    held = await worker.claim()
    assert (await changed(tasks, job_id, "status = 'pending', worker_id = null, retry_count = retry_count + 1"))[
        "status"
    ] == "pending"
    assert await worker.complete(held) == {job_id: "taken_by_another_worker"}
    await worker.claim()
    assert await one(tasks, "select retry_count from worker_tasks") == 1


async def test_who_comes_second_passes_over_what_the_first_has_changed(tasks: Database) -> None:
    retry = "update worker_tasks set status = 'pending' where status = 'failed' returning id"
    job_id = await enqueue(tasks)
    await changed(tasks, job_id, "status = 'failed'")
    second = await meet_twice(tasks, lambda each: each.fetch(retry))
    assert second == []
    assert await one(tasks, "select status from worker_tasks") == "pending"


async def test_a_task_worker_claims_beats_and_settles(tasks: Database) -> None:
    first, second = await enqueue_many(
        tasks, [{"kind": ROLE, "queue": ROLE, "key": "1"}, {"kind": ROLE, "queue": ROLE}]
    )
    claim = (
        "update worker_tasks set status = 'claimed', worker_id = 'w-1', claimed_at = now() where id = $1 returning id"
    )
    assert await one(tasks, claim, first) == first
    await changed(tasks, first, "status = 'running', started_at = now()")
    assert (await changed(tasks, first, "last_heartbeat_at = now()"))["last_heartbeat_at"] is not None
    done = await changed(tasks, first, "status = 'completed', completed_at = now(), result = '{\"stores\": 2}'")
    assert (done["status"], msgspec.json.decode(done["result"]), done["worker_id"]) == (
        "completed",
        {"stores": 2},
        "w-1",
    )
    assert await one(tasks, "select id from claim_task($1, 'w-1')", ROLE) == second
    assert await tasks.fetch("select * from claim_task($1, 'w-1')", ROLE) == []
    failed = await changed(tasks, second, "status = 'failed', error_message = 'HTTP 500'")
    assert (failed["status"], failed["error_message"]) == ("pending", "HTTP 500")  # three retries are left
    with pytest.raises(LeaseLost, match=f"task {second} is not yours any more"):
        await changed(tasks, second, "last_heartbeat_at = now()")


async def test_claims_and_heartbeats_over_http_are_of_one_worker(tasks: Database) -> None:
    await enqueue(tasks, queue=ROLE)
    await tasks.fetch("select * from claim_task($1, 'worker-abc123')", ROLE)
    incarnation = await one(tasks, "select incarnation from leasehold.jobs")
    assert incarnation == heartbeat_of(TaskHeartbeat(worker_id="worker-abc123")).incarnation


async def test_what_a_worker_of_ours_runs_is_its_own(tasks: Database) -> None:
    job_id = await enqueue(tasks)
    await SqlWorker(tasks).claim()
    for change in ("status = 'completed'", "status = 'running'", "last_heartbeat_at = now()"):
        with pytest.raises(WrongState, match="settles it itself"):
            await changed(tasks, job_id, change)


async def test_what_nobody_does_is_refused_and_names_the_column(tasks: Database) -> None:
    job_id = await enqueue(tasks)
    cases: list[tuple[str, type[Exception], str]] = [
        ("update worker_tasks set role = 'x'", BadInput, "role cannot be written"),
        (
            "update worker_tasks set dispensary_id = 1, result = '1'",
            BadInput,
            "dispensary_id, result cannot be written",
        ),
        ("update worker_tasks set status = 'completed'", WrongState, "cannot be made completed"),
        ("update worker_tasks set priority = null, max_retries = 5", BadInput, "never null"),
        ("update worker_tasks set status = 'stale'", WrongState, "cannot be made stale"),
        ("update worker_tasks set status = null", WrongState, "cannot be made null"),
        ("insert into worker_tasks (role, status) values ('x', 'running')", BadInput, "a new task is pending"),
        ("insert into worker_tasks (role, worker_id) values ('x', 'w')", BadInput, "worker_id cannot be written"),
        ("insert into worker_tasks (dispensary_id) values (1)", BadInput, "kind"),
        ("select * from claim_task('x', null)", BadInput, "a role and a worker_id"),
        ("update task_schedules set next_run_at = now()", BadInput, "next_run_at cannot be written"),
        ("select generate_resync_tasks()", BadInput, "several schedules make such tasks: a, b"),
    ]
    await tasks.execute("insert into task_schedules (name, role, interval_hours) values ('a', 'payload_fetch', 4)")
    await tasks.execute("insert into task_schedules (name, role, interval_hours) values ('b', 'payload_fetch', 4)")
    before = await tasks.fetch("select * from worker_tasks")
    for sql, error, told in cases:
        with pytest.raises(error, match=told):
            await tasks.execute(sql)
    assert await tasks.fetch("select * from worker_tasks") == before
    assert [row["id"] for row in before] == [job_id]


async def test_schedules_are_made_changed_and_removed(tasks: Database) -> None:
    [made] = await tasks.fetch(
        "insert into task_schedules (name, role, interval_hours, priority, state_code) "
        "values ('discovery', 'store_discovery', 24, 5, 'AZ') returning *"
    )
    assert (made["interval_hours"], made["state_code"], made["enabled"], made["last_task_count"]) == (
        24,
        "AZ",
        True,
        None,
    )
    [new] = await tasks.fetch(
        "update task_schedules set enabled = false, interval_hours = 6, state_code = 'CA' returning *"
    )
    assert (new["enabled"], new["interval_hours"], new["state_code"]) == (False, 6, "CA")
    [schedule] = await tasks.fetch("select * from leasehold.schedules")
    assert (schedule["every"], msgspec.json.decode(schedule["args"]), schedule["max_attempts"]) == (
        21600,
        {"state_code": "CA"},
        4,
    )
    await tasks.execute("delete from task_schedules where name = 'discovery'")
    assert await tasks.fetch("select * from task_schedules") == []


async def test_a_schedule_of_stores_makes_a_task_for_each_shop(tasks: Database) -> None:
    await tasks.execute(STORES)
    await tasks.execute(
        "insert into task_schedules (name, role, interval_hours, state_code) "
        "values ('resync', 'product_resync', 4, 'AZ')"
    )
    assert await one(tasks, "select generate_resync_tasks(6, '2025-01-10')") == 2
    assert await one(tasks, "select generate_resync_tasks(6, '2025-01-10')") == 2  # once for a date
    rows = await tasks.fetch("select dispensary_id, role from worker_tasks order by 1")
    assert [tuple(row) for row in rows] == [(1, ROLE), (3, ROLE)]
    with pytest.raises(BadInput, match="stands in its query"):
        await tasks.execute("update task_schedules set state_code = 'CO'")


async def test_twice_is_once_and_what_is_removed_leaves_the_jobs(tasks: Database) -> None:
    await tasks.execute("grant select on worker_tasks to public; insert into worker_tasks (role) values ('a')")
    await tasks.execute(compat_script())
    assert await one(tasks, "select has_table_privilege('public', 'worker_tasks', 'select')")
    for _ in range(2):
        await tasks.execute(compat_script(remove=True))
    assert await one(tasks, "select to_regclass('worker_tasks')") is None
    assert await one(tasks, "select count(*) from leasehold.jobs") == 1
    assert await one(tasks, "select count(*) from pg_proc where pronamespace = 'public'::regnamespace") == 0


async def test_tables_of_others_are_neither_replaced_nor_removed(fresh_database: Database) -> None:
    await fresh_database.execute(
        "create table worker_tasks (id serial); create function claim_task() returns int return 1"
    )
    with pytest.raises(WrongState, match=r"claim_task\(\), worker_tasks already, and not from us"):
        await fresh_database.execute(compat_script())
    assert await one(fresh_database, "select to_regclass('task_schedules')") is None
    await fresh_database.execute(compat_script(remove=True))
    assert await fresh_database.fetch("select * from worker_tasks") == []


def test_a_schema_is_a_plain_name() -> None:
    with pytest.raises(BadInput, match="schema must be lower case letters"):
        compat_script('public"; drop')
