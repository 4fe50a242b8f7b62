"""Many clients at once, each with a connection of its own. An index of the test's own refuses a second job of a key."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import product

import pytest
import trio

from leasehold.database import Database, ReservedConnection
from leasehold.errors import DatabaseUnavailable, UniqueConflict
from tests.support.sql_jobs import empty, job, states
from tests.support.sql_unique import Answer, enqueue_one, enqueue_unique
from tests.support.sql_waits import meet, open_transaction, until_waiting
from tests.support.sql_worker import SqlWorker, insist
from tests.support.waiting import PATIENCE

CLIENTS = 8
ROUNDS = 3
KEYS = 30
PER_CALL = 10
QUEUED = ["pending", "scheduled", "waiting", "blocked"]
POLICIES = ["existing", "replace", "extend", "overwrite", "reject"]

# Two unfinished (of a kind "queued …": two unheld) jobs of a kind with one `key` in their args make an error.
FORBID_A_SECOND_JOB = """
create unique index on leasehold.jobs (kind, (args ->> 'key')) where kind not like 'queued%' or incarnation is null
"""


@asynccontextmanager
async def clients(database: Database, count: int = CLIENTS) -> AsyncGenerator[list[ReservedConnection]]:
    """So many connections."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(database.reserve(f"client {n}")) for n in range(count)]


async def at_once(
    connections: Sequence[ReservedConnection], work: Callable[[int, ReservedConnection], Awaitable[object]]
) -> None:
    async with trio.open_nursery() as nursery:
        for number, reserved in enumerate(connections):
            nursery.start_soon(work, number, reserved)


def some_jobs(number: int, turn: int, policy: str, counted: str) -> list[object]:
    """Jobs with keys in an order of this client's own."""
    keys = random.Random(f"{number}/{turn}").choices(range(KEYS), k=PER_CALL)
    terms = {"states": QUEUED} if counted == "queued" else {}
    unique = {"by": ["kind", "args.key"], "on_conflict": policy, **terms}
    return [{"kind": f"{counted} {policy}", "args": {"key": key, "by": number}, "unique": unique} for key in keys]


async def work_until(database: Database, is_over: trio.Event) -> None:
    """Claim and complete whatever there is, in batches. Producers hold rows of it while they decide."""
    worker = SqlWorker(database)
    while True:
        claimed = await worker.claim(20)
        if claimed:
            assert await insist(partial(worker.complete, claimed)) == {}
        elif is_over.is_set():
            return


async def test_many_clients_make_exactly_one_job_of_each_key(fresh_database: Database) -> None:
    await fresh_database.execute(FORBID_A_SECOND_JOB)
    async with clients(fresh_database) as connections:
        for case in product(POLICIES, ("unfinished", "queued")):
            await make_one_of_each(fresh_database, connections, *case)


async def make_one_of_each(
    database: Database, connections: Sequence[ReservedConnection], policy: str, counted: str
) -> None:
    made: Counter[int] = Counter()
    outcomes: Counter[str] = Counter()

    async def enqueue(number: int, reserved: ReservedConnection) -> None:
        for turn in range(ROUNDS):
            try:
                answers = await enqueue_unique(reserved, *some_jobs(number, turn, policy, counted))
            except UniqueConflict:
                outcomes["refused"] += 1
                continue
            for job_id, outcome in answers:
                outcomes[outcome] += 1
                made[job_id] += outcome == "created"

    await at_once(connections, enqueue)
    rows = await database.fetch(
        "select id, args ->> 'key' as key from leasehold.jobs where kind = $1", f"{counted} {policy}"
    )
    assert len(rows) == len({row["key"] for row in rows}) == outcomes["created"]
    assert set(made) <= {row["id"] for row in rows}
    assert set(made.values()) <= {0, 1}
    if policy != "reject":
        assert outcomes.total() == CLIENTS * ROUNDS * PER_CALL
        assert len(rows) == KEYS


async def test_while_workers_drain_the_queue_there_is_never_a_second_job_that_counts(fresh_database: Database) -> None:
    """Many clients enqueue and two workers complete at the same time."""
    database = fresh_database
    await database.execute(FORBID_A_SECOND_JOB)
    is_over = trio.Event()
    async with trio.open_nursery() as nursery, clients(database) as connections:
        for _ in range(2):
            nursery.start_soon(work_until, database, is_over)
        made = {
            case: await enqueue_until_some_are_done(connections, *case)
            for case in product(POLICIES[:4], ("unfinished", "queued"))
        }
        is_over.set()
    finished = await states(database)
    assert set(finished.values()) == {"completed"}
    assert len(finished) == sum(made.values())
    assert all(count > KEYS for count in made.values()), made


async def enqueue_until_some_are_done(connections: Sequence[ReservedConnection], policy: str, counted: str) -> int:
    """How many jobs were made: more than there are keys, so some were completed meanwhile."""
    made: Counter[str] = Counter()

    async def enqueue(number: int, reserved: ReservedConnection) -> None:
        for turn in range(ROUNDS):
            for _, outcome in await enqueue_unique(reserved, *some_jobs(number, turn, policy, counted)):
                made[outcome] += 1

    for _ in range(20):  # on a busy machine the workers may not have come to anything in the first
        await at_once(connections, enqueue)
        if made["created"] > KEYS:
            break
    return made["created"]


async def test_the_last_replacement_that_was_told_so_is_what_runs(fresh_database: Database) -> None:
    """Each client replaces in a row; what a worker got is what the last `replaced` or `created` before its claim said."""
    database = fresh_database
    unique = {"key": "one", "on_conflict": "replace", "states": QUEUED}
    told: defaultdict[int, list[int]] = defaultdict(list)
    got: dict[int, int] = {}
    is_over = trio.Event()

    async def enqueue(number: int, reserved: ReservedConnection) -> None:
        for turn in range(10):
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

    async with trio.open_nursery() as nursery, clients(database) as connections:
        nursery.start_soon(work)
        await at_once(connections, enqueue)
        is_over.set()
    assert sorted(got) == sorted(told)
    assert all(got[job_id] in stamps for job_id, stamps in told.items())
    assert sum(len(stamps) for stamps in told.values()) == CLIENTS * 10


async def test_calls_with_the_same_keys_in_opposite_order_do_not_deadlock(database: Database) -> None:
    jobs = [{"kind": "a", "args": {"n": n}, "unique": {"on_conflict": "replace"}} for n in range(100)]

    async def enqueue(number: int, reserved: ReservedConnection) -> None:
        for _ in range(3):
            await enqueue_unique(reserved, *(jobs if number % 2 else jobs[::-1]))

    async with clients(database, 4) as connections:
        await at_once(connections, enqueue)
    assert len(await states(database)) == 100


# Two connections in a scripted order.

Act = Callable[[ReservedConnection], Awaitable[object]]
Enqueue = Callable[[ReservedConnection], Awaitable[Answer]]


async def test_who_asks_for_a_key_while_another_decides_waits_and_is_answered_with_what_came_of_it(
    database: Database, worker: SqlWorker
) -> None:
    """Where the first job is done, the look for it has an old snapshot: a subquery in `on conflict do update` would be fooled."""
    new, old = '{"new": true}', "{}"
    queued, replace = {"states": QUEUED}, {"on_conflict": "replace"}
    # What the first does and how that ends, how job 1 was before, the terms; the second's answer, and the args of that job.
    table: list[tuple[str, str, str | None, Mapping[str, object], tuple[int, str, str]]] = [
        ("enqueue", "commit", None, {}, (1, "existing", old)),
        ("enqueue", "rollback", None, {}, (2, "created", new)),
        ("enqueue", "commit", "completed", {}, (2, "existing", old)),
        ("claim", "commit", "pending", queued, (2, "created", new)),
        ("claim", "commit", "pending", replace, (1, "existing", old)),
        ("claim", "rollback", "pending", replace, (1, "replaced", new)),
        ("retry", "commit", "failed", {}, (1, "existing", old)),
    ]
    found: list[object] = []
    for does, end, before, terms, _ in table:
        await empty(database)
        unique = {"key": "k", **terms}
        acts: dict[str, Act] = {
            "enqueue": partial(enqueue_one, unique=unique),
            "claim": lambda reserved: SqlWorker(reserved).claim(),
            "retry": lambda reserved: reserved.call("retry_job", 1),
        }
        if before is not None:
            await enqueue_one(database, unique=unique)
        if before == "completed":
            await worker.complete(await worker.claim())
        if before == "failed":
            await worker.fail(await worker.claim(), discard=[True])
        answer = await meet(database, acts[does], partial(enqueue_one, unique=unique, args={"new": True}), end)
        found.append((does, end, before, terms, (*answer, (await job(database, answer[0]))["args"])))
    assert found == table


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


async def test_under_stricter_isolation_a_conflict_is_an_error_and_never_a_second_job(
    database: Database, worker: SqlWorker
) -> None:
    for isolation, end in product(("repeatable read", "serializable"), ("pending", "completed")):
        await empty(database)
        async with database.reserve("strict") as strict:
            await strict.execute(f"begin isolation level {isolation}")
            await strict.fetch("select from leasehold.jobs")
            await enqueue_one(database)
            if end == "completed":
                await worker.complete(await worker.claim())
            with pytest.raises(DatabaseUnavailable):  # to be tried again, like every serialization failure
                await enqueue_one(strict)
            await strict.execute("rollback")
        assert await states(database) == {1: end}, isolation


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
