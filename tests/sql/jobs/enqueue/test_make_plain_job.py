"""A row that somebody inserts into the table of jobs by hand."""

from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, LeaseholdError, QueryRefused
from tests.support.epochs import begin_epoch, fail_over
from tests.support.sql_books import close, totals
from tests.support.sql_jobs import enqueue, enqueue_many, events, job, snapshot, states
from tests.support.sql_reasons import faults
from tests.support.sql_waits import frozen
from tests.support.sql_worker import SqlWorker

PLAIN = "insert into leasehold.jobs (kind, args) values ('echo', '{\"text\": 1}') returning id"


async def test_kind_and_args_make_the_job_that_enqueue_jobs_would_make(database: Database) -> None:
    [row] = await database.fetch(PLAIN)
    [by_call] = await enqueue_many(database, [{"kind": "echo", "args": {"text": 1}}])
    own = {"id", "chain_id", "created_at", "run_at"}
    mine, theirs = dict((await job(database, row["id"])).items()), dict((await job(database, by_call)).items())
    assert {name: mine[name] for name in mine if name not in own} == {
        name: theirs[name] for name in mine if name not in own
    }
    assert mine["created_at"] == mine["run_at"]
    assert (mine["state"], mine["queue"], mine["chain_id"]) == ("pending", "default", mine["id"])


async def test_every_column_that_an_enqueue_knows_is_kept(database: Database) -> None:
    [row] = await database.fetch(
        "insert into leasehold.jobs (kind, queue, key, key_group, priority, max_attempts, timeout, deadline, traceparent,"
        " metadata) "
        "values ('a', 'q', 'k', 'g', 7, 3, 60, '2999-01-01Z', '00-ab-cd-01', '{\"x\": 1}') returning *"
    )
    found = (row["queue"], row["key"], row["key_group"], row["priority"], row["max_attempts"], row["timeout"])
    assert found == ("q", "k", "g", 7, 3, 60)
    assert (row["deadline"].year, row["traceparent"], row["metadata"]) == (2999, "00-ab-cd-01", '{"x": 1}')


async def test_args_may_be_left_out(database: Database) -> None:
    [row] = await database.fetch("insert into leasehold.jobs (kind) values ('echo') returning args::text, state")
    assert tuple(row) == ("{}", "pending")


async def test_a_time_to_come_is_scheduled_and_a_past_one_is_now(database: Database) -> None:
    rows = await database.fetch(
        "insert into leasehold.jobs (kind, args, run_at) values ('later', '{}', leasehold.clock() + interval '1 hour'), "
        "('overdue', '{}', '2001-01-01Z') returning state, run_at = created_at as is_now"
    )
    assert [tuple(row) for row in rows] == [("scheduled", False), ("pending", True)]


async def test_jobs_of_one_key_stand_in_line_also_within_one_statement(database: Database, worker: SqlWorker) -> None:
    await database.fetch(
        "insert into leasehold.jobs (kind, key) values ('a', 'k'), ('a', 'k'), ('b', 'k'), ('a', 'other')"
    )
    assert await states(database) == {1: "pending", 2: "waiting", 3: "pending", 4: "pending"}
    await worker.claim(1)
    [row] = await database.fetch("insert into leasehold.jobs (kind, key) values ('c', 'k') returning state")
    assert row["state"] == "waiting"


async def test_it_is_claimed_run_and_counted_like_any_other(database: Database) -> None:
    await database.call("ensure_partitions")
    async with frozen(database, "2026-03-01 12:00:10Z") as connection:
        await connection.fetch("insert into leasehold.jobs (kind, queue) values ('a', 'q'), ('a', 'q'), ('a', 'q')")
        worker = SqlWorker(connection)
        first, second, _ = await worker.claim(queues=["q"])
        assert await worker.complete([first], [{"ok": True}]) == {}
        await worker.fail([second], discard=[True])
        assert [tuple(row) for row in await connection.call("count_jobs")] == [
            ("q", "claimed", 1),
            ("q", "completed", 1),
            ("q", "failed", 1),
        ]
        await close(connection, "2026-03-01 12:03:30Z")
        found = await totals(connection)
        assert (found["completed"], found["failed"]) == (1, 1)
        told = [event for event, _ in await events(connection, first["job_id"])]
    assert told == ["created", "claimed", "started", "completed"]


async def test_an_audit_finds_nothing_about_them(database: Database) -> None:
    await database.call("ensure_partitions")
    await database.fetch(
        "insert into leasehold.jobs (kind, key, run_at) values ('a', 'k', null), ('a', 'k', null), "
        "('later', null, leasehold.clock() + interval '1 hour')"
    )
    assert await states(database) == {1: "pending", 2: "waiting", 3: "scheduled"}
    assert await faults(database) == []


BAD = [
    ("(args) values ('{}')", "kind is missing"),
    ("(kind, args) values ('', '{}')", "kind must have 1 to 200 bytes, not 0"),
    ("(kind, args) values (E'a\\nb', '{}')", "control character"),
    ("(kind, args) values ('a', '[1]')", "args must be a JSON object, not array"),
    ("(kind, args) values ('a', 'null')", "args must be a JSON object, not null"),
    ("(kind, args, queue) values ('a', '{}', 'a,b')", "queue has a comma"),
    ("(kind, args, queue) values ('a', '{}', ' a')", "queue has a space at an end"),
    ("(kind, args, key) values ('a', '{}', '')", "key must have 1 to 500 bytes"),
    ("(kind, args, max_attempts) values ('a', '{}', 0)", "max_attempts must be from 1"),
    (
        "(kind, args, run_at) values ('a', '{}', 'infinity')",
        "run_at must be a time after the year 0 and before the year 9000",
    ),
    ("(kind, args, metadata) values ('a', '{}', '1')", "metadata must be a JSON object"),
    ("(kind, args, timeout) values ('a', '{}', -1)", "timeout must be more than 0"),
    ("(kind, args, key_group) values ('a', '{}', '*')", "key_group must not be *"),
    ("(id, kind, args) values (1, 'a', '{}')", "id must be left out"),
    ("(id, kind, args) values (99, 'a', '{}')", "id must be left out"),
    ("(kind, attempt) values ('a', 3)", "attempt must be left out"),
    ("(kind, worker_id, created_at) values ('a', 'me', '2001-01-01')", "created_at, worker_id must be left out"),
    ("(kind, chain_id, chain_position) values ('a', 1, 2)", "chain_id, chain_position must be left out"),
]


async def test_what_is_no_job_is_refused_with_the_words_of_an_enqueue(database: Database) -> None:
    for row, complaint in BAD:
        await enqueue_many(database, [{"kind": "a"}] * 2)
        before = await snapshot(database)
        with pytest.raises(BadInput, match=complaint.replace("*", r"\*")):
            await database.fetch(f"insert into leasehold.jobs {row}")
        assert await snapshot(database) == before


async def test_a_state_without_the_rest_is_refused_by_the_table(database: Database) -> None:
    with pytest.raises(QueryRefused) as caught:
        await database.fetch("insert into leasehold.jobs (kind, args, state) values ('a', '{}', 'pending')")
    assert caught.value.sqlstate == "23502"


async def test_of_many_rows_one_bad_one_refuses_all(database: Database) -> None:
    with pytest.raises(LeaseholdError):
        await database.fetch("insert into leasehold.jobs (kind) values ('a'), ('b'), ('')")
    assert await states(database) == {}


async def test_the_rows_of_a_select_are_jobs_in_its_order(database: Database) -> None:
    await database.fetch(
        "insert into leasehold.jobs (kind, args) select 'k' || n, '{}' from generate_series(3, 1, -1) n order by n"
    )
    rows = await database.fetch("select id, kind from leasehold.jobs order by id")
    assert [tuple(row) for row in rows] == [(1, "k1"), (2, "k2"), (3, "k3")]


async def test_after_a_failover_its_id_is_none_that_was_lost(database: Database) -> None:
    await begin_epoch(database)
    await database.fetch(PLAIN)
    await fail_over(database)
    [row] = await database.fetch(PLAIN)
    assert row["id"] > 1_000_000_000
    assert await enqueue(database) > row["id"]
