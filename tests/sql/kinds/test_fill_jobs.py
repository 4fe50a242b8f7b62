from __future__ import annotations

import json
from typing import Any

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, UniqueConflict
from tests.support.sql_jobs import empty, enqueue, enqueue_many, job
from tests.support.sql_kinds import ORDER, declare

CHARGE = {
    "kind": "charge", "queue": "orders", "priority": 3, "max_attempts": 5, "deadline": 3600, "key": "args.order_id",
    "key_group": "args.note", "args_schema": ORDER,
}  # fmt: skip
FIELDS = ("queue", "priority", "max_attempts", "key", "key_group")


async def columns(database: Database, job_id: int) -> tuple[Any, ...]:
    row = await job(database, job_id)
    assert row["deadline"] is not None
    return tuple(row[name] for name in FIELDS)


async def by_enqueue_job(database: Database, doc: dict[str, Any]) -> int:
    fields = {
        name: json.dumps(value) if name in ("args", "unique") else value
        for name, value in doc.items()
        if name != "kind"
    }
    return await enqueue(database, doc["kind"], **fields)


async def by_enqueue_jobs(database: Database, doc: dict[str, Any]) -> int:
    return (await enqueue_many(database, [{"kind": "stranger"}, doc]))[1]


async def by_hand(database: Database, doc: dict[str, Any]) -> int:
    names = ", ".join(doc)
    places = ", ".join(f"${n}" for n in range(1, len(doc) + 1))
    values = [json.dumps(value) if name == "args" else value for name, value in doc.items()]
    rows = await database.fetch(f"insert into leasehold.jobs ({names}) values ({places}) returning id", *values)
    return rows[0][0]


WAYS = pytest.mark.parametrize("way", [by_enqueue_job, by_enqueue_jobs, by_hand])


@WAYS
async def test_what_a_job_does_not_say_its_kind_does(database: Database, way: Any) -> None:
    await declare(database, CHARGE)
    made = await way(database, {"kind": "charge", "args": {"order_id": 7, "note": "berlin"}})
    assert await columns(database, made) == ("orders", 3, 5, "7", "berlin")


@WAYS
async def test_what_a_job_says_wins_also_where_it_is_the_default_of_the_database(database: Database, way: Any) -> None:
    await declare(database, CHARGE)
    said = {"queue": "default", "priority": 0, "max_attempts": 20, "key": "mine", "key_group": "g"}
    made = await way(database, {"kind": "charge", "args": {"order_id": 7}, **said})
    assert await columns(database, made) == tuple(said.values())


@WAYS
async def test_null_is_not_said(database: Database, way: Any) -> None:
    await declare(database, CHARGE)
    made = await way(database, {"kind": "charge", "args": {"order_id": 7}, **dict.fromkeys(FIELDS)})
    assert await columns(database, made) == ("orders", 3, 5, "7", None)


@WAYS
async def test_args_that_do_not_fit_are_refused_and_nothing_is_enqueued(database: Database, way: Any) -> None:
    await declare(database, CHARGE)
    with pytest.raises(BadInput, match=r"args do not fit charge as version 1 takes them: args\.order_id is missing"):
        await way(database, {"kind": "charge", "args": {"note": "x"}})
    assert await database.fetch("select from leasehold.jobs") == []


@WAYS
async def test_a_kind_that_nobody_declared_is_as_before(database: Database, way: Any) -> None:
    await declare(database, CHARGE)
    row = await job(database, await way(database, {"kind": "unheard", "args": {"any": [1]}}))
    assert [row[name] for name in FIELDS] == ["default", 0, 20, None, None]


@WAYS
async def test_a_unique_kind_makes_one_job_of_two(database: Database, way: Any) -> None:
    await declare(database, {"kind": "sync", "unique": {"by": ["kind", "args.shop"]}})
    first = await way(database, {"kind": "sync", "args": {"shop": 1}})
    assert await way(database, {"kind": "sync", "args": {"shop": 2}}) != first
    if way is by_hand:
        rows = await database.fetch(
            "insert into leasehold.jobs (kind, args) values ('sync', '{\"shop\": 1}') returning id"
        )
        assert rows == []
    else:
        assert await way(database, {"kind": "sync", "args": {"shop": 1}}) == first
    [count] = await database.fetch("select count(*) from leasehold.jobs where kind = 'sync'")
    assert count[0] == 2


async def test_a_row_by_hand_changes_the_unique_job_where_its_kind_says_so(database: Database) -> None:
    await declare(database, {"kind": "sync", "unique": {"by": ["kind"], "on_conflict": "replace"}})
    first = await by_hand(database, {"kind": "sync", "args": {"shop": 1}})
    await database.fetch("insert into leasehold.jobs (kind, args) values ('sync', '{\"shop\": 2}')")
    assert json.loads((await job(database, first))["args"]) == {"shop": 2}
    await declare(database, {"kind": "sync", "unique": {"by": ["kind"], "on_conflict": "reject"}})
    with pytest.raises(UniqueConflict):
        await by_hand(database, {"kind": "sync", "args": {"shop": 3}})


async def test_who_passes_catalogue_false_gets_nothing_and_is_refused_nothing(database: Database) -> None:
    await declare(database, CHARGE)
    rows = await database.call("enqueue_jobs", '[{"kind": "charge", "args": {"any": 1}}]', catalogue=False)
    one = await enqueue(database, "charge", args='{"any": 1}', catalogue=False)
    for made in (rows[0]["job_id"], one):
        row = await job(database, made)
        assert [row[name] for name in FIELDS] == ["default", 0, 20, None, None]


async def test_the_one_job_of_many_that_does_not_fit_is_named(database: Database) -> None:
    await declare(database, CHARGE)
    with pytest.raises(BadInput, match=r"job 3: args do not fit charge .* args\.order_id must be integer, not string"):
        await enqueue_many(
            database,
            [
                {"kind": "charge", "args": {"order_id": 1}},
                {"kind": "stranger"},
                {"kind": "charge", "args": {"order_id": "x"}},
            ],
        )


async def test_what_is_no_job_is_still_refused_as_such(database: Database) -> None:
    await declare(database, CHARGE)
    bads: list[Any] = [
        5,
        {"kind": 5},
        {"kind": "charge", "args": []},
        {"kind": "charge", "args": 5},
        {"kind": "charge", "args": {"order_id": 1}, "queue": 5},
    ]
    for bad in bads:
        with pytest.raises(BadInput):
            await enqueue_many(database, [bad])
    with pytest.raises(BadInput, match="jobs must be a JSON array"):
        await database.call("enqueue_jobs", "{}")


async def test_jobs_of_a_schedule_get_all_but_unique_and_are_never_refused(database: Database) -> None:
    await declare(database, {**CHARGE, "unique": {"by": ["kind"]}})
    definition = {"name": "nightly", "kind": "charge", "every": 60, "args": {"order_id": 9}}
    await database.fetch("select leasehold.create_schedule($1)", json.dumps(definition))
    await database.fetch(
        "select leasehold.create_schedule($1)", json.dumps({**definition, "name": "odd", "args": {"any": 1}})
    )
    for name in ("nightly", "nightly", "odd"):
        await database.call("trigger_schedule", name)
    rows = await database.fetch("select queue, priority, max_attempts, key from leasehold.jobs order by id")
    assert [tuple(row) for row in rows] == [("orders", 3, 5, "9"), ("orders", 3, 5, "9"), ("orders", 3, 5, None)]


async def test_a_schedule_that_names_its_queue_keeps_it(database: Database) -> None:
    await declare(database, CHARGE)
    definition = {
        "name": "own",
        "kind": "charge",
        "every": 60,
        "args": {"order_id": 9},
        "queue": "default",
        "priority": 0,
    }
    await database.fetch("select leasehold.create_schedule($1)", json.dumps(definition))
    await database.call("trigger_schedule", "own")
    [row] = await database.fetch("select queue, priority from leasehold.jobs")
    assert tuple(row) == ("default", 0)


async def test_rows_with_a_state_that_do_not_say_priority_and_attempts_have_those_of_the_database(
    database: Database,
) -> None:
    await declare(database, CHARGE)
    [row] = await database.fetch(
        "insert into leasehold.jobs (created_at, run_at, state, kind, queue, args)"
        " values (now(), now(), 'pending', 'charge', 'q', '{}') returning priority, max_attempts, key"
    )
    assert tuple(row) == (0, 20, None)


async def test_check_args_false_takes_any_args_of_one_job_and_fills_in_the_rest(database: Database) -> None:
    for way in [by_enqueue_job, by_enqueue_jobs]:
        cases: list[dict[str, Any]] = [{}, {"order_id": "x"}, {"order_id": 7, "more": [1]}]
        for args in cases:
            await declare(database, CHARGE)
            made = await way(database, {"kind": "charge", "args": args, "check_args": False})
            key = str(args["order_id"]) if "order_id" in args else None
            assert await columns(database, made) == ("orders", 3, 5, key, None)


async def test_check_args_false_takes_no_object_for_a_key(database: Database, subtests: pytest.Subtests) -> None:
    for way in [by_enqueue_job, by_enqueue_jobs]:
        await empty(database)
        with subtests.test(way=way):
            await declare(database, CHARGE)
            with pytest.raises(BadInput, match=r"args\.order_id is object, and cannot be the key of a job"):
                await way(database, {"kind": "charge", "args": {"order_id": {}}, "check_args": False})


async def test_of_a_list_only_those_jobs_are_not_checked_that_say_so(
    database: Database, subtests: pytest.Subtests
) -> None:
    for flat in [{"kind": "ship", "args_schema": ORDER}, {"kind": "ship", "queue": "q", "args_schema": ORDER}]:
        await empty(database)
        with subtests.test(flat=flat):
            await declare(database, flat)
            lax: dict[str, Any] = {"kind": "ship", "args": {}, "check_args": False}
            fits = {"kind": "ship", "args": {"order_id": 1}, "check_args": True}
            made = await enqueue_many(database, [lax, fits, {"kind": "stranger", "check_args": False}])
            wanted = flat.get("queue", "default")
            assert [(await job(database, each))["queue"] for each in made] == [wanted, wanted, "default"]
            with pytest.raises(BadInput, match=r"job 2: .*order_id is missing"):
                await enqueue_many(database, [lax, lax | {"check_args": None}])
            with pytest.raises(BadInput, match="check_args must be true or false, not string"):
                await enqueue_many(database, [{"kind": "ship", "args": {"order_id": 1}, "check_args": "no"}])
