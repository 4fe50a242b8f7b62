"""enqueue_jobs has short ways for jobs that need no conversion, and leaves all others to add_jobs: all ways give the same."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from leasehold.database import Database, Transaction
from leasehold.errors import LeaseholdError
from tests.support.sql_jobs import enqueue_many, snapshot
from tests.support.sql_kinds import ORDER, declare
from tests.support.sql_waits import freeze, rolled_back
from tests.support.sql_worker import SqlWorker

NOW = "2026-01-05 12:00:00+00"
BATCHES = 100

SANE: dict[str, list[Any]] = {
    "queue": ["mail", "ж" * 100, "it's"],
    "args": [{}, {"n": 1, "deep": [{"ключ": None}]}, {"text": "x" * 3000}],
    "priority": [0, -5, 999_999_999],
    "run_at": ["2026-01-05T12:00:00Z", "2026-01-05 13:00:00.5+01", "2020-01-01T00:00:00+00:00", "2026-02-01T00:00:00-0830"],
    "delay": [0, 0.5, 119, 120, 86_400],
    "key": ["a", "b", "held", "open", "x" * 500],
    "key_group": ["g", "ж" * 250],
    "max_attempts": [1, 20, 999_999],
    "timeout": [0.001, 30, 3_155_760_000],
    "traceparent": ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
    "metadata": [{}, {"shop": 7}],
    "idempotency_key": ["again", "used", "x" * 500, *(f"once {n}" for n in range(20))],
    "deadline": ["PT5M", "2027-01-01T00:00:00Z"],
}  # fmt: skip
ODD: dict[str, list[Any]] = {
    "kind": [None, "", 5, "a\tb", "x" * 201, True, ["echo"]],
    "queue": [None, "", "a,b", "a\nb", "x" * 201, 7],
    "args": [None, [], "text", 1],
    "priority": [None, 1.5, 5.0, "5", "many", 1e12, 2_147_483_647, -2_147_483_648],
    "run_at": [None, "tomorrow", "infinity", "9001-01-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-02-30T10:00:00Z", 5],
    "delay": [None, -1, 1e300, "5", "NaN", 3_155_760_001],
    "key": [None, "", "x" * 501, 1],
    "key_group": [None, "", "*", 3],
    "max_attempts": [None, 0, -1, 1_000_000, 1_000_001, 2.5, "3"],
    "timeout": [None, 0, -3, 1e-300, "PT5M", "30", 1e20],
    "idempotency_key": [None, "", "x" * 501, 7],
    "traceparent": [None, "x" * 201, 5],
    "metadata": [None, [], "no"],
    "unknown": [1],
}  # fmt: skip


BEYOND_PLAIN = {"run_at", "delay", "key", "deadline", "idempotency_key"}


def sane_job(random: Random, beyond: float = 0.25) -> dict[str, Any]:
    """A job of any sort; `beyond`: how likely it has each of the fields that plain jobs do not have."""
    job: dict[str, Any] = {"kind": random.choice(["echo", "crawl"])}
    for name, values in SANE.items():
        if random.random() < (0.02 if name == "deadline" else beyond if name in BEYOND_PLAIN else 0.25):
            job[name] = random.choice(values)
    if "delay" in job and "run_at" in job and random.random() < 0.95:
        del job["run_at"]
    return job


def a_job(random: Random, beyond: float) -> Any:
    if random.random() < 0.01:
        return random.choice([None, [], "echo", 5, [{"kind": "echo"}]])
    job = sane_job(random, beyond)
    if random.random() < 0.06:
        name = random.choice([*ODD])
        job[name] = random.choice(ODD[name])
    return job


async def what_comes_of(transaction: Transaction, call: str, jobs: list[Any]) -> tuple[Any, ...]:
    """Answer or error of one way, and all that it wrote; nothing of it stays."""
    await transaction.execute("select setval('leasehold.jobs_id_seq', 1000, false)")
    await transaction.execute("savepoint before")
    try:
        answer: Any = [tuple(row) for row in await transaction.fetch(call, json.dumps(jobs))]
    except LeaseholdError as error:
        answer = (type(error), str(error))
        await transaction.execute("rollback to before")
    written = await snapshot(transaction)
    await transaction.execute("rollback to before")
    return answer, written


async def a_held_and_an_open_key(database: Database) -> None:
    await enqueue_many(database, [{"kind": "echo", "key": "held"}])
    await SqlWorker(database).claim()
    await enqueue_many(database, [{"kind": "echo", "key": "open", "queue": "mail"}])
    await enqueue_many(database, [{"kind": "echo", "idempotency_key": "used"}])


async def test_both_ways_write_the_same_and_refuse_the_same_with_the_same_words(database: Database) -> None:
    await a_held_and_an_open_key(database)
    random = Random(20261122)
    answers = {"written": 0, "refused": 0}
    async with rolled_back(database) as transaction:
        await freeze(transaction, NOW)
        for _ in range(BATCHES):
            beyond = random.choice([0, 0.02, 0.25])
            jobs = [a_job(random, beyond) for _ in range(random.choice([1, 1, 2, 5, 20]))]
            together = await what_comes_of(transaction, "select * from leasehold.enqueue_jobs($1::jsonb, false)", jobs)
            one_by_one = await what_comes_of(
                transaction, "select * from leasehold.add_jobs($1::jsonb, null, null, null, null, false)", jobs
            )
            assert together == one_by_one, jobs
            answers["written" if isinstance(together[0], list) else "refused"] += 1
    assert min(answers.values()) > BATCHES / 10, answers


async def test_one_job_in_sql_is_written_as_by_enqueue_jobs(database: Database) -> None:
    call = """
        select leasehold.enqueue_job(j ->> 'kind', args => j -> 'args', queue => coalesce(j ->> 'queue', 'default'),
            priority => coalesce((j ->> 'priority')::integer, 0), max_attempts => (j ->> 'max_attempts')::integer,
            key_group => j ->> 'key_group', traceparent => j ->> 'traceparent', metadata => j -> 'metadata',
            key => j ->> 'key', notify => false), true, 'created'
          from jsonb_array_elements($1::jsonb) j"""
    names = ("kind", "queue", "args", "priority", "max_attempts", "key_group", "traceparent", "metadata", "key")
    random = Random(7)
    async with rolled_back(database) as transaction:
        await freeze(transaction, NOW)
        for _ in range(BATCHES // 4):
            job = {name: value for name, value in sane_job(random).items() if name in names}
            both = [
                await what_comes_of(transaction, statement, [job])
                for statement in (call, "select * from leasehold.add_jobs($1::jsonb, null, null, null, null, false)")
            ]
            assert both[0] == both[1], job


DECLARED: list[dict[str, Any]] = [
    {"kind": "charge", "queue": "orders", "priority": 3, "max_attempts": 5, "args_schema": ORDER},
    {"kind": "checked", "args_schema": ORDER},
    {"kind": "limited", "args_schema": {"type": "object", "properties": {"order_id": {"minimum": 5}}}},
    {"kind": "filled", "queue": "orders"},
    {"kind": "keyed", "max_attempts": 5, "key": "args.order_id", "args_schema": ORDER},
    {"kind": "grouped", "key_group": "args.note"},
    {"kind": "ending", "deadline": 60},
]
ARGS: list[Any] = [{"order_id": 7}, {"order_id": 1, "note": "berlin"}, {"order_id": 7.0}, {"$payload": "x"}]
MISFITS: list[Any] = [{}, {"order_id": "7"}, {"order_id": {}, "note": []}, {"order_id": 7, "more": 1}, None, 5]


def declared_job(random: Random, kind: str, beyond: float) -> Any:
    """A job of this kind, mostly with args that fit."""
    if random.random() < 0.02:
        return a_job(random, beyond)
    args = random.choice(MISFITS if random.random() < 0.12 else ARGS)
    return {**sane_job(random, beyond), "kind": kind, "args": args}


async def test_jobs_of_declared_kinds_are_as_if_they_were_filled_in_first(database: Database) -> None:
    await a_held_and_an_open_key(database)
    await declare(database, *DECLARED)
    kinds = [*(each["kind"] for each in DECLARED), "stranger"]
    filled_first = "select a.* from leasehold.add_jobs(leasehold.fill_jobs($1::jsonb), null, null, null, null, false) a"
    random = Random(20261124)
    answers = {"written": 0, "refused": 0}
    async with rolled_back(database) as transaction:
        await freeze(transaction, NOW)
        for _ in range(BATCHES):
            beyond = random.choice([0, 0, 0.1])
            some = [random.choice(kinds)] if random.random() < 0.7 else kinds
            jobs = [declared_job(random, random.choice(some), beyond) for _ in range(random.choice([1, 1, 2, 5]))]
            together = await what_comes_of(transaction, "select * from leasehold.enqueue_jobs($1::jsonb, false)", jobs)
            assert together == await what_comes_of(transaction, filled_first, jobs), jobs
            answers["written" if isinstance(together[0], list) else "refused"] += 1
    assert min(answers.values()) > BATCHES / 10, answers
