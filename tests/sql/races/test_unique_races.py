"""Many clients at once, each with a connection of its own. An index of the test's own refuses a second job of a key."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from functools import partial

import pytest
import trio

from leasehold.database import Database, ReservedConnection
from leasehold.errors import DatabaseUnavailable, UniqueConflict
from tests.support.sql_jobs import job, states
from tests.support.sql_unique import Answer, at_once, enqueue_one, enqueue_unique
from tests.support.sql_waits import open_transaction, until_waiting
from tests.support.sql_worker import SqlWorker, insist
from tests.support.waiting import PATIENCE

CLIENTS = 12
ROUNDS = 3
KEYS = 30
PER_CALL = 10
QUEUED = ["pending", "scheduled", "waiting", "blocked"]

POLICIES = ["existing", "reject", "replace", "extend", "overwrite"]
STATES = {"unfinished": None, "queued": QUEUED}


async def forbid_a_second_job(database: Database, *, queued_only: bool = False) -> None:
    """Two unfinished (or two unheld) jobs with the same `key` in their args make an error, whoever writes them."""
    where = "where incarnation is null" if queued_only else ""
    await database.execute(f"create unique index on leasehold.jobs ((args ->> 'key')) {where}")


def some_jobs(number: int, turn: int, unique: object, fields: object = None) -> list[object]:
    """Jobs with keys in an order of this client's own."""
    keys = random.Random(f"{number}/{turn}").choices(range(KEYS), k=PER_CALL)
    return [
        {
            "kind": "a",
            "args": {"key": key, "by": number},
            "unique": unique,
            **(fields if isinstance(fields, dict) else {}),
        }
        for key in keys
    ]


async def work_until(database: Database, is_over: trio.Event) -> None:
    """Claim and complete whatever there is, in batches. Producers hold rows of it while they decide."""
    worker = SqlWorker(database)
    while True:
        claimed = await worker.claim(20)
        if claimed:
            assert await insist(partial(worker.complete, claimed)) == {}
        elif is_over.is_set():
            return


@pytest.mark.parametrize("counted", STATES)
@pytest.mark.parametrize("policy", POLICIES)
async def test_many_clients_make_exactly_one_job_of_each_key(
    fresh_database: Database, policy: str, counted: str
) -> None:
    database = fresh_database
    await forbid_a_second_job(database)
    made: Counter[int] = Counter()
    outcomes: Counter[str] = Counter()
    unique = {"by": ["kind", "args.key"], "on_conflict": policy}
    if STATES[counted] is not None:
        unique["states"] = STATES[counted]  # type: ignore[assignment]

    async def enqueue(number: int, reserved: ReservedConnection) -> None:
        for turn in range(ROUNDS):
            jobs = some_jobs(number, turn, unique)
            try:
                answers = await enqueue_unique(reserved, *jobs)
            except UniqueConflict:
                outcomes["refused"] += 1
                continue
            for job_id, outcome in answers:
                outcomes[outcome] += 1
                made[job_id] += outcome == "created"

    await at_once(database, CLIENTS, enqueue)
    rows = await database.fetch("select id, args ->> 'key' as key from leasehold.jobs")
    assert len(rows) == len({row["key"] for row in rows}) == outcomes["created"]
    assert set(made) <= {row["id"] for row in rows}
    assert set(made.values()) <= {0, 1}
    print(policy, counted, dict(outcomes))
    if policy != "reject":
        assert outcomes.total() == CLIENTS * ROUNDS * PER_CALL
        assert len(rows) == KEYS


@pytest.mark.parametrize("policy", ["existing", "replace", "extend", "overwrite"])
async def test_while_workers_drain_the_queue_there_is_never_a_second_unfinished_job(
    fresh_database: Database, policy: str
) -> None:
    database = fresh_database
    await forbid_a_second_job(database)
    unique = {"by": ["kind", "args.key"], "on_conflict": policy}
    made = await enqueue_and_drain(database, unique)
    finished = await states(database)
    assert set(finished.values()) == {"completed"}
    assert len(finished) == made > KEYS


@pytest.mark.parametrize("policy", ["existing", "replace", "extend", "overwrite"])
async def test_where_only_queued_jobs_count_there_is_never_a_second_queued_one(
    fresh_database: Database, policy: str
) -> None:
    database = fresh_database
    await forbid_a_second_job(database, queued_only=True)
    unique = {"by": ["kind", "args.key"], "on_conflict": policy, "states": QUEUED}
    made = await enqueue_and_drain(database, unique)
    assert len(await states(database)) == made > KEYS


async def enqueue_and_drain(database: Database, unique: object) -> int:
    """Many clients enqueue and two workers complete at the same time; how many jobs were made."""
    made: Counter[str] = Counter()
    is_over = trio.Event()

    async def enqueue(number: int, reserved: ReservedConnection) -> None:
        for turn in range(ROUNDS):
            for _, outcome in await enqueue_unique(reserved, *some_jobs(number, turn, unique)):
                made[outcome] += 1

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(work_until, database, is_over)
        for _ in range(20):  # on a busy machine the workers may not have come to anything in the first
            await at_once(database, CLIENTS, enqueue)
            if made["created"] > KEYS:
                break
        is_over.set()
    print(dict(made))
    return made["created"]


async def test_the_last_replacement_that_was_told_so_is_what_runs(fresh_database: Database) -> None:
    """Each client replaces in a row; what a worker got is what the last `replaced` or `created` before its claim said."""
    database = fresh_database
    unique = {"key": "one", "on_conflict": "replace", "states": QUEUED}
    told: defaultdict[int, list[int]] = defaultdict(list)
    got: dict[int, int] = {}
    is_over = trio.Event()

    async def enqueue(number: int, reserved: ReservedConnection) -> None:
        for turn in range(20):
            stamp = number * 1000 + turn
            job_id, outcome = await enqueue_one(reserved, args={"stamp": stamp}, unique=unique)
            assert outcome in ("created", "replaced")
            told[job_id].append(stamp)

    async def work() -> None:
        worker = SqlWorker(database)
        while not is_over.is_set() or len(got) < len(told):
            for claimed in await worker.claim():
                got[claimed["job_id"]] = json.loads(claimed["args"])["stamp"]
                await insist(partial(worker.complete, [claimed]))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(work)
        await at_once(database, CLIENTS, enqueue)
        is_over.set()
    assert sorted(got) == sorted(told)
    assert all(got[job_id] in stamps for job_id, stamps in told.items())
    assert sum(len(stamps) for stamps in told.values()) == CLIENTS * 20


# Two connections in a scripted order.

Second = Callable[[ReservedConnection], Awaitable[Answer]]


async def meanwhile(
    database: Database, end: str, first: Callable[[ReservedConnection], Awaitable[object]], second: Second
) -> Answer:
    """What the second is answered, which waits for the first until that ends with `end`."""
    answers: list[Answer] = []

    async def wait() -> None:
        async with database.reserve("second") as reserved:
            answers.append(await second(reserved))

    async with trio.open_nursery() as nursery, open_transaction(database, "first") as reserved:
        await first(reserved)
        nursery.start_soon(wait)
        await until_waiting(database, "second")
        await reserved.execute(end)
    return answers[0]


async def test_the_second_of_two_waits_and_gets_the_job_of_the_first(database: Database) -> None:
    assert await meanwhile(database, "commit", enqueue_one, enqueue_one) == (1, "existing")


async def test_when_the_first_rolls_back_the_second_makes_the_job(database: Database) -> None:
    answer = await meanwhile(database, "rollback", enqueue_one, enqueue_one)
    assert answer[1] == "created"
    assert list(await states(database)) == [answer[0]]


async def test_of_two_that_take_over_from_a_finished_job_the_second_gets_that_of_the_first(
    database: Database, worker: SqlWorker
) -> None:
    """The look for the finished job has an old snapshot here: a subquery in `on conflict do update` would be fooled."""
    await enqueue_one(database)
    await worker.complete(await worker.claim())
    answer = await meanwhile(database, "commit", enqueue_one, enqueue_one)
    unfinished = [job_id for job_id, state in (await states(database)).items() if state == "pending"]
    assert (answer, len(unfinished)) == ((unfinished[0], "existing"), 1)


async def test_a_job_that_is_being_claimed_is_not_taken_for_a_queued_one(database: Database) -> None:
    unique = {"states": QUEUED}
    await enqueue_one(database, unique=unique)
    answer = await meanwhile(
        database,
        "commit",
        lambda reserved: SqlWorker(reserved).claim(),
        lambda reserved: enqueue_one(reserved, unique=unique),
    )
    assert answer[1] == "created"


async def test_a_claim_that_never_commits_leaves_the_queued_job_to_be_replaced(database: Database) -> None:
    unique = {"key": "k", "on_conflict": "replace"}
    await enqueue_one(database, unique=unique)
    answer = await meanwhile(
        database,
        "rollback",
        lambda reserved: SqlWorker(reserved).claim(),
        lambda reserved: enqueue_one(reserved, unique=unique, args={"new": True}),
    )
    assert answer == (1, "replaced")
    assert (await job(database, 1))["args"] == '{"new": true}'


async def test_a_job_that_is_being_claimed_is_not_replaced_and_the_answer_says_so(database: Database) -> None:
    unique = {"key": "k", "on_conflict": "replace"}
    await enqueue_one(database, unique=unique)
    answer = await meanwhile(
        database,
        "commit",
        lambda reserved: SqlWorker(reserved).claim(),
        lambda reserved: enqueue_one(reserved, unique=unique, args={"new": True}),
    )
    assert answer == (1, "existing")
    assert (await job(database, 1))["args"] == "{}"


async def test_a_queued_job_that_was_answered_with_does_not_start_before_the_answer_is_committed(
    database: Database, worker: SqlWorker
) -> None:
    """So that it sees what the producer wrote for it in the same transaction."""
    unique = {"states": QUEUED}
    await enqueue_one(database, unique=unique)
    async with open_transaction(database, "producer") as producer:
        assert await enqueue_one(producer, unique=unique) == (1, "existing")
        assert await worker.claim() == []
        await producer.execute("commit")
    assert len(await worker.claim()) == 1


async def test_a_retry_and_an_enqueue_at_once_do_not_make_two(database: Database, worker: SqlWorker) -> None:
    await enqueue_one(database)
    await worker.fail(await worker.claim(), discard=[True])
    answer = await meanwhile(database, "commit", lambda reserved: reserved.call("retry_job", 1), enqueue_one)
    assert answer == (1, "existing")
    assert await states(database) == {1: "pending"}


async def test_a_completion_that_asks_for_the_key_of_its_own_job_does_not_deadlock_with_a_replacement(
    database: Database, worker: SqlWorker
) -> None:
    """One has the job and wants the key, the other has the key and wants the job."""
    unique = {"key": "loop", "on_conflict": "replace"}
    await enqueue_one(database, unique=unique)
    claimed = await worker.claim()
    answers: list[Answer] = []

    async def replace() -> None:
        async with database.reserve("second") as reserved:
            answers.append(await enqueue_one(reserved, unique=unique, args={"by": "producer"}))

    async with trio.open_nursery() as nursery, open_transaction(database, "first") as first:
        await first.fetch("select from leasehold.jobs where id = 1 for update")
        nursery.start_soon(replace)
        await until_waiting(database, "second")
        next_job = {"kind": "a", "args": {"by": "loop"}, "unique": unique}
        with trio.fail_after(PATIENCE):
            ((reason, _),) = (await worker.over(first).continue_with(claimed, [{"jobs": [next_job]}])).values()
        assert reason is None
        await first.execute("commit")
    (answer,) = answers
    assert answer[1] == "replaced"
    assert (await job(database, answer[0]))["args"] == '{"by": "producer"}'
    assert list((await states(database)).values()) == ["pending", "completed"]


async def test_calls_with_the_same_keys_in_opposite_order_do_not_deadlock(database: Database) -> None:
    jobs = [{"kind": "a", "args": {"n": n}, "unique": {"on_conflict": "replace"}} for n in range(100)]

    async def enqueue(number: int, reserved: ReservedConnection) -> None:
        for _ in range(5):
            await enqueue_unique(reserved, *(jobs if number % 2 else jobs[::-1]))

    await at_once(database, 8, enqueue)
    assert len(await states(database)) == 100


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
@pytest.mark.parametrize("end", ["pending", "completed"])
async def test_under_stricter_isolation_a_conflict_is_an_error_and_never_a_second_job(
    database: Database, worker: SqlWorker, isolation: str, end: str
) -> None:
    async with database.reserve("strict") as strict:
        await strict.execute(f"begin isolation level {isolation}")
        await strict.fetch("select from leasehold.jobs")
        await enqueue_one(database)
        if end == "completed":
            await worker.complete(await worker.claim())
        with pytest.raises(DatabaseUnavailable):  # to be tried again, like every serialization failure
            await enqueue_one(strict)
        await strict.execute("rollback")
    assert await states(database) == {1: end}


async def test_under_stricter_isolation_the_job_is_judged_as_the_transaction_sees_it(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue_one(database)
    async with database.reserve("strict") as strict:
        await strict.execute("begin isolation level repeatable read")
        await strict.fetch("select from leasehold.jobs")
        await worker.complete(await worker.claim())
        assert await enqueue_one(strict) == (1, "existing")
        await strict.execute("commit")
