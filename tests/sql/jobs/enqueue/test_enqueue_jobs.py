from __future__ import annotations

import json
from functools import partial

import pytest
import trio

from leasehold.database import Caller, Database
from leasehold.errors import BadInput, IdempotencyMismatch
from tests.support.sql_jobs import empty, enqueue, enqueue_many, job, snapshot, states
from tests.support.sql_waits import frozen, heard, meet, meet_twice, rolled_back
from tests.support.sql_worker import SqlWorker

NAMES = [
    "o'clock",
    'say "hi"',
    "a;drop table leasehold.jobs;--",
    "%s %I %L {0} $1 \\",
    "日本語 🐘 ﷽",
    "x" * 200,
    "ж" * 100,
    "spaces  within",
    "a/b:c|d",
]


async def test_ids_come_back_in_the_order_given(database: Database) -> None:
    made = await enqueue_many(database, [{"kind": f"k{n}", "priority": n % 3} for n in range(50)])
    rows = await database.fetch("select id, kind from leasehold.jobs order by id")
    assert [(row["id"], row["kind"]) for row in rows] == [(job_id, f"k{n}") for n, job_id in enumerate(made)]


async def test_no_jobs_are_no_jobs(database: Database) -> None:
    assert await enqueue_many(database, []) == []


async def test_ten_thousand_at_once(database: Database) -> None:
    made = await enqueue_many(database, [{"kind": "echo"}] * 10_000)
    assert made == list(range(1, 10_001))


async def test_fields_that_are_null_have_their_defaults(database: Database) -> None:
    fields = (
        "args", "queue", "priority", "run_at", "delay", "key", "max_attempts", "idempotency_key", "metadata",
        "key_group", "timeout", "deadline", "blockers", "unique", "traceparent",
    )  # fmt: skip
    (job_id,) = await enqueue_many(database, [{"kind": "echo", **dict.fromkeys(fields)}])
    row = await job(database, job_id)
    assert (row["queue"], row["priority"], row["args"], row["max_attempts"]) == ("default", 0, "{}", 20)
    assert (row["state"], row["key"], row["metadata"]) == ("pending", None, None)


async def test_names_are_data_and_come_back_as_they_were_given(database: Database) -> None:
    for name in NAMES:
        (job_id,) = await enqueue_many(
            database,
            [
                {
                    "kind": name,
                    "queue": name,
                    "key": name,
                    "idempotency_key": name,
                    "args": {name: name},
                    "metadata": {name: 1},
                }
            ],
        )
        row = await job(database, job_id)
        assert (row["kind"], row["queue"], row["key"]) == (name, name, name)
        assert (json.loads(row["args"]), json.loads(row["metadata"])) == ({name: name}, {name: 1})
        worker = SqlWorker(database)
        (claimed,) = await worker.claim(queues=[name], kinds=[name])
        assert await worker.complete([claimed], [name]) == {}
        assert json.loads((await job(database, job_id))["output"]) == name


async def test_a_wake_up_for_any_queue_name_is_data_too(database: Database) -> None:
    for name in [n for n in NAMES if len(n.encode()) <= 190]:
        await empty(database)
        await SqlWorker(database).register()
        await database.execute("update leasehold.workers set idle = true")
        assert await heard(database, partial(enqueue, database, queue=name)) == [f"wake:{name}"]


# What is refused.

REFUSED: list[tuple[object, str]] = [
    ({"kind": "echo"}, "jobs must be a JSON array of objects"),
    (None, "jobs must be a JSON array of objects"),
    ("echo", "jobs must be a JSON array of objects"),
    (["echo"], "a job must be a JSON object"),
    ([[]], "a job must be a JSON object"),
    ([None], "a job must be a JSON object"),
    ([{}], "kind is missing"),
    ([{"kind": "a"}, {"kind": None}], "job 2: kind is missing"),
    ([{"kind": "a"}, {"kind": "a", "quue": "x"}], "job 2: unknown field 'quue'; known are kind, args,"),
    ([{"kind": "a", "it's": 1}], "unknown field 'it''s'"),
    ([{"kind": 5}], "kind must be a string, not number"),
    ([{"kind": ["a"]}], "kind must be a string, not array"),
    ([{"kind": "a", "queue": {"b": 1}}], "queue must be a string, not object"),
    ([{"kind": "a", "key": True}], "key must be a string, not boolean"),
    ([{"kind": "a", "fingerprint": 7}], "fingerprint must be a string, not number"),
    ([{"kind": "a", "idempotency_key": 7}], "idempotency_key must be a string, not number"),
    ([{"kind": "a", "priority": "high"}], "priority must be a whole number from -2147483648 to 2147483647, not high"),
    ([{"kind": "a"}, {"kind": "a", "priority": 1.5}], "job 2: priority must be a whole number"),
    ([{"kind": "a", "priority": 2**31}], "to 2147483647, not 2147483648"),
    ([{"kind": "a", "max_attempts": True}], "max_attempts must be a whole number"),
    ([{"kind": "a", "run_at": "soon"}], "run_at must be a time, such as 2030-01-31T12:00:00Z, not soon"),
    ([{"kind": "a", "run_at": "2030-13-01"}], "run_at must be a time"),
    ([{"kind": "a", "run_at": "0044-03-15 BC"}], "run_at must be a time after the year 0"),
    ([{"kind": "a", "deadline": "0044-03-15 BC"}], "deadline must be a time after the year 0"),
    ([{"kind": "a", "deadline": "P9999999Y"}], "deadline must be a time, such as"),
    ([{"kind": "a", "delay": "later"}], "delay must be a number of seconds, not later"),
    ([{"kind": "a", "key_group": 7}], "key_group must be a string, not number"),
    ([{"kind": "a", "traceparent": []}], "traceparent must be a string, not array"),
    ([{"kind": "a", "key_group": "*"}], "key_group must not be *"),
    ([{"kind": "a", "timeout": 0}], "timeout must be more than 0 seconds and at most 100 years, not 0"),
    ([{"kind": "a", "timeout": "long"}], "timeout must be a number of seconds, not long"),
    ([{"kind": "a", "deadline": "infinity"}], "deadline must be a time after the year 0 and before the year 9000"),
    ([{"kind": "a", "deadline": "soon"}], "deadline must be a time, such as"),
    ([{"kind": "a", "blockers": 7}], "blockers must be an array, not number"),
    ([{"kind": "a", "args": [1]}], "args must be a JSON object, not array"),
    ([{"kind": "a", "metadata": "x"}], "metadata must be a JSON object, not string"),
]


async def test_a_bad_job_is_refused_with_its_place_and_the_reason(database: Database) -> None:
    for jobs, complaint in REFUSED:
        before = await snapshot(database)
        with pytest.raises(BadInput) as refused:
            await enqueue_many(database, jobs)  # type: ignore[arg-type]
        assert complaint in str(refused.value)
        assert await snapshot(database) == before


async def test_one_bad_job_refuses_the_whole_batch(database: Database) -> None:
    with pytest.raises(BadInput, match="job 500: "):
        await enqueue_many(database, [{"kind": "echo", "idempotency_key": f"i{n}"} for n in range(499)] + [{}])
    assert not any(await snapshot(database))


async def test_a_null_character_is_refused(database: Database) -> None:
    with pytest.raises(BadInput, match="unsupported Unicode escape"):
        await database.call("enqueue_jobs", r'[{"kind": "a", "args": {"text": "\u0000"}}]')


async def test_what_is_no_json_is_refused(database: Database) -> None:
    for text in ["NaN", "Infinity", '"\\ud800"', "{'a': 1}", "1e999999999", "[" * 3]:
        with pytest.raises(BadInput):
            await database.call("enqueue_jobs", f'[{{"kind": "a", "args": {{"x": {text}}}}}]')


async def test_json_of_great_depth_is_refused_and_the_connection_lives(database: Database) -> None:
    deep = '{"a":' * 100_000 + "1" + "}" * 100_000
    async with database.reserve("deep") as connection:
        with pytest.raises(BadInput, match="stack depth limit"):
            await connection.call("enqueue_jobs", f'[{{"kind": "a", "args": {deep}}}]')
        assert await connection.fetch("select 1")


async def test_args_may_take_a_mebibyte_and_no_more(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "args": {"x": "y" * (1_048_576 - 64)}}])
    with pytest.raises(BadInput, match=r"args take 10485[0-9]+ bytes; 1048576 is the most"):
        await enqueue_many(database, [{"kind": "a", "args": {"x": "y" * 1_048_576}}])


async def test_numbers_keep_every_digit(database: Database) -> None:
    text = '{"n": 123456789012345678901234567890.12345678901234567890}'
    await database.call("enqueue_jobs", f'[{{"kind": "a", "args": {text}}}]')
    assert (await job(database, 1))["args"] == text


# Keys within one batch.


async def test_of_a_new_key_only_the_best_job_of_each_queue_and_kind_is_pending(database: Database) -> None:
    await enqueue_many(
        database,
        [
            {"kind": "a", "key": "k"},
            {"kind": "a", "key": "k", "priority": 5},
            {"kind": "a", "key": "k", "priority": 5},
            {"kind": "a", "key": "other"},
            {"kind": "b", "key": "k"},
            {"kind": "a", "key": "k", "queue": "else"},
        ],
    )
    expected = {1: "waiting", 2: "pending", 3: "waiting", 4: "pending", 5: "pending", 6: "pending"}
    assert await states(database) == expected


async def test_no_priority_is_better_than_a_negative_one(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a", "key": "k", "priority": -5}, {"kind": "a", "key": "k"}])
    assert await states(database) == {1: "waiting", 2: "pending"}


async def test_the_future_jobs_of_a_key_are_scheduled_beside_a_pending_one(database: Database) -> None:
    await enqueue_many(
        database,
        [
            {"kind": "a", "key": "k", "delay": 60, "priority": 9},
            {"kind": "b", "key": "k"},
            {"kind": "c", "key": "k", "delay": 5},
        ],
    )
    assert await states(database) == {1: "scheduled", 2: "pending", 3: "scheduled"}


async def test_a_job_of_a_held_key_waits(database: Database, worker: SqlWorker) -> None:
    await worker.given(key="k")
    await enqueue_many(database, [{"kind": "a", "key": "k"}])
    assert await states(database) == {1: "claimed", 2: "waiting"}


# Idempotency keys.


async def call(caller: Caller, *jobs: object) -> list[tuple[int, bool]]:
    return [(row["job_id"], row["is_new"]) for row in await caller.call("enqueue_jobs", json.dumps(jobs))]


async def test_a_repeated_idempotency_key_answers_with_the_first_job(database: Database) -> None:
    assert await call(database, {"kind": "a", "idempotency_key": "once"}) == [(1, True)]
    answer = await call(database, {"kind": "b", "idempotency_key": "once"}, {"kind": "c"})
    assert answer[0] == (1, False)
    assert answer[1][1]
    assert len(await states(database)) == 2


async def test_one_idempotency_key_twice_in_a_batch_makes_one_job(database: Database) -> None:
    answer = await call(
        database,
        {"kind": "a", "idempotency_key": "x"},
        {"kind": "b"},
        {"kind": "c", "idempotency_key": "x"},
        {"kind": "d", "idempotency_key": "y"},
    )
    assert [is_new for _, is_new in answer] == [True, True, False, True]
    assert answer[0][0] == answer[2][0]
    kinds = await database.fetch("select kind from leasehold.jobs order by id")
    assert [row["kind"] for row in kinds] == ["a", "b", "d"]


async def test_an_idempotency_key_holds_after_its_job_has_finished(database: Database, worker: SqlWorker) -> None:
    job_id = await enqueue(database, idempotency_key="once")
    await worker.complete(await worker.claim())
    assert await enqueue(database, idempotency_key="once") == job_id
    assert await states(database) == {job_id: "completed"}


async def test_an_idempotency_key_of_a_rolled_back_enqueue_is_free(database: Database) -> None:
    async with rolled_back(database) as transaction:
        await enqueue(transaction, idempotency_key="once")
    assert (await call(database, {"kind": "a", "idempotency_key": "once"}))[0][1]


async def test_the_second_of_two_concurrent_enqueues_waits_and_gets_the_job_of_the_first(database: Database) -> None:
    once = {"kind": "a", "idempotency_key": "once"}
    [(job_id, is_new)] = await meet_twice(database, lambda each: call(each, once))
    assert not is_new
    assert list(await states(database)) == [job_id]


async def test_when_the_first_of_two_concurrent_enqueues_rolls_back_the_second_makes_the_job(
    database: Database,
) -> None:
    once = {"kind": "a", "idempotency_key": "once"}
    [(_, is_new)] = await meet_twice(database, lambda each: call(each, once), end="rollback")
    assert is_new
    assert len(await states(database)) == 1


async def test_an_idempotency_key_with_another_fingerprint_refuses_the_whole_batch(database: Database) -> None:
    mine, other = ({"kind": "a", "idempotency_key": "once", "fingerprint": each} for each in "xy")
    assert await call(database, mine) == [(1, True)]
    assert (await call(database, mine, mine))[0] == (1, False)
    with pytest.raises(IdempotencyMismatch, match="job 2: idempotency_key 'once' was used before for another request"):
        await call(database, {"kind": "c", "idempotency_key": "new"}, other)
    with pytest.raises(IdempotencyMismatch, match=r"^idempotency_key 'once'"):
        await call(database, other)
    assert len(await states(database)) == 2
    with pytest.raises(IdempotencyMismatch, match="job 2"):  # within one call, too
        await call(database, {**mine, "idempotency_key": "two"}, {**other, "idempotency_key": "two"})
    assert (await call(database, {"kind": "d", "idempotency_key": "new"}))[0][1]


async def test_the_key_of_a_request_is_none_of_a_job_and_its_jobs_are_told_apart(database: Database) -> None:
    part, named = {"kind": "a", "idempotency_key": "k", "fingerprint": "x"}, {"kind": "a", "idempotency_key": "k"}
    made = await call(database, part, named, part, named)
    assert [is_new for _, is_new in made] == [True, True, True, False]
    assert made[3][0] == made[1][0]
    assert await call(database, part, part, named) == [(made[n][0], False) for n in (0, 2, 1)]


async def test_the_second_of_two_concurrent_enqueues_with_another_fingerprint_waits_and_is_refused(
    database: Database,
) -> None:
    with pytest.raises(IdempotencyMismatch):
        await meet(
            database,
            lambda first: call(first, {"kind": "a", "idempotency_key": "once", "fingerprint": "x"}),
            lambda second: call(second, {"kind": "b", "idempotency_key": "once", "fingerprint": "y"}),
        )
    assert len(await states(database)) == 1


async def test_batches_with_the_same_idempotency_keys_in_opposite_order_do_not_deadlock(database: Database) -> None:
    keys = [f"i{n:03}" for n in range(100)]
    answers: list[dict[str, int]] = []

    async def enqueue_all(order: list[str]) -> None:
        made = await enqueue_many(database, [{"kind": "a", "idempotency_key": key} for key in order])
        answers.append(dict(zip(order, made, strict=True)))

    for _ in range(5):
        await empty(database)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(enqueue_all, keys)
            nursery.start_soon(enqueue_all, keys[::-1])
        assert answers[-1] == answers[-2]
        assert sorted(await states(database)) == sorted(answers[-1].values())


async def test_a_deadline_may_be_a_length_of_time_from_now(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await enqueue_many(
            connection, [{"kind": "a", "deadline": deadline} for deadline in ("PT90S", "P1DT0.5S", None)]
        )
        rows = await connection.fetch(
            "select extract(epoch from deadline - created_at)::float8 as s from leasehold.jobs order by id"
        )
    assert [row["s"] for row in rows] == [90.0, 86400.5, None]
