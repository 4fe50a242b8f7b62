"""How much a call reads, counted by Postgres: no more than its batch, whatever is in the tables, and whatever Postgres
believed to be in them when it made the plan. A connection keeps its plans for long, and the one made for an empty queue has
to do for a million jobs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime

import pytest

from leasehold.database import Database, ReservedConnection, Row
from tests.support.sql_jobs import enqueue, enqueue_many, pile_up
from tests.support.sql_kinds import ORDER, declare
from tests.support.sql_limits import limit, pile_up_group
from tests.support.sql_work import UNDISTURBED, Work, measured, statistics
from tests.support.sql_worker import SqlWorker, identities

Call = Callable[[], Awaitable[object]]
Calls = Mapping[str, tuple[int, Call]]

MANY = 2000
BATCH = 100


class Full:
    """A database with MANY jobs each: held, waiting behind those, pending with keys of their own, pending without,
    waiting behind one busy key, scheduled, of a kind nobody serves."""

    def __init__(self, worker: SqlWorker, held: list[Row], later: list[int]) -> None:
        self.worker = worker
        self.held = held
        self.later = later


async def fill(database: Database) -> Full:
    worker = SqlWorker(database)
    await pile_up(database, MANY, "held", key="held%s")
    held = await worker.claim(MANY, kinds=["held"])
    await pile_up(database, MANY, "held", key="held%s")
    await pile_up(database, MANY, "keyed", key="own%s", queue="second")
    await pile_up(database, MANY, "plain")
    await pile_up(database, MANY, "plain", key="busy")
    await pile_up(database, MANY, "later", key="later%s")
    await pile_up(database, MANY, "unserved", priority=9)
    await pile_up_group(database, None, MANY, queue="limited")
    await pile_up_group(database, "full", MANY, queue="limited")
    for n in range(20):
        await pile_up_group(database, f"g{n}", MANY // 20, queue="limited")
    await limit(database, MANY, queue="limited", rate=1e6)
    await limit(database, 50, queue="limited", group="*", rate=1e3)
    await limit(database, 0, queue="limited", group="full")
    await limit(database, MANY, queue="whole", rate=1e6)
    await pile_up_group(database, "a", MANY, queue="whole")
    await database.execute("update leasehold.jobs set state = 'scheduled', run_at = now() + '1 h' where kind = 'later'")
    await database.execute("update leasehold.jobs set deadline = '2998-01-01' where kind = 'unserved'")
    await declare(
        database,
        *({"kind": f"declared{n}", "queue": "q", "max_attempts": 5, "args_schema": ORDER} for n in range(MANY)),
    )
    await worker.register()
    later = await database.fetch("select id from leasehold.jobs where state = 'scheduled' order by id limit $1", BATCH)
    return Full(worker, held, [row["id"] for row in later])


async def say(worker: SqlWorker, jobs: list[Row]) -> None:
    """Progress of these jobs."""
    fractions, messages = [0.5] * len(jobs), ["x"] * len(jobs)
    await worker.caller.call("report_progress", worker.incarnation, *identities(jobs), fractions, messages)


async def write_logs(reserved: ReservedConnection, jobs: list[Row]) -> None:
    """A line for each of these jobs."""
    ids, attempts = identities(jobs)
    ats, levels, messages = [datetime.now(UTC)] * len(jobs), ["info"] * len(jobs), ["x"] * len(jobs)
    await reserved.call("write_job_logs", ids, attempts, ats, levels, messages)


async def use_everything(reserved: ReservedConnection) -> None:
    """Call every function until this connection has made the plans that it will keep."""
    worker, stranger = SqlWorker(reserved), SqlWorker(reserved)
    kinds = ["warm"]
    for _ in range(10):
        await enqueue_many(
            reserved,
            [
                {"kind": "warm", "key": key, "idempotency_key": key, "fingerprint": key}
                for key in (None, None, "a", "b")
            ],
        )
        jobs = await worker.claim(8, kinds=kinds)
        await worker.renew(jobs)
        await stranger.renew(jobs)
        await say(worker, jobs)
        await say(stranger, jobs)
        await write_logs(reserved, jobs)
        await worker.start(jobs)
        await worker.fail(jobs[:1], retry_in=[0.0])
        await worker.reschedule(jobs[1:2], [0.0])
        await worker.release(jobs[2:])
        await worker.claim(8, kinds=kinds)
        await reserved.execute(
            "update leasehold.jobs set lease_expires_at = now() where claimed_at is not null and kind = 'warm'"
        )
        await reserved.call("reap_jobs", 10)
        jobs = await worker.claim(8, kinds=kinds)
        await worker.complete(jobs)
        await stranger.complete(jobs)
        await enqueue_many(reserved, [{"kind": "warm", "key": key, "delay": 60} for key in (None, "a", "b")])
        await reserved.execute("update leasehold.jobs set run_at = now() where state = 'scheduled' and kind = 'warm'")
        await reserved.call("make_jobs_due")
        for job_id in await enqueue_many(reserved, [{"kind": "warm", "key": "c"}] * 2):
            await reserved.call("explain_job", job_id)
        for name in ("promote_stranded_jobs", "next_due_in", "next_expiry_in", "expire_jobs", "list_jobs"):
            await reserved.call(name)
        await reserved.call("held_jobs", worker.incarnation)
        await reserved.call("next_look_in")
        await reserved.call("set_limit", "warm", "*", 10, 1000.0)
        await enqueue_many(
            reserved, [{"kind": "warm", "queue": "warm", "key_group": group} for group in (None, "a", "b")]
        )
        await worker.release(await worker.claim(8, kinds=kinds))
        await reserved.call("drop_limit", "warm", "*")
        for name in ("get_job", "get_job_timeline", "get_chain", "list_chain_jobs", "list_blocked_jobs"):
            await reserved.call(name, 1)
        await reserved.call("list_cancels", [1])
        await reserved.call("list_chains")
        await reserved.call("watch_chains", [1, 2], 60.0)
        made = await enqueue_many(
            reserved, [{"kind": "warm"}, {"kind": "warm"}, {"kind": "warm"}, {"kind": "warm", "delay": 60}]
        )
        for name, chain_id in zip(("complete_chain", "cancel_chain", "delete_chain"), made, strict=False):
            await reserved.call(name, chain_id)
        await reserved.call("trigger_jobs", made[3:])
        await reserved.execute("delete from leasehold.jobs where kind = 'warm'")


async def nothing_yet(database: Database, reserved: ReservedConnection) -> None:
    """The connection comes to a full queue and has no plans."""


async def empty(database: Database, reserved: ReservedConnection) -> None:
    await use_everything(reserved)


async def few_and_analyzed(database: Database, reserved: ReservedConnection) -> None:
    await pile_up(database, 50, "old")
    await database.execute("analyze leasehold.jobs")
    await use_everything(reserved)


async def few_held_and_analyzed(database: Database, reserved: ReservedConnection) -> None:
    await pile_up(database, 50, "old")
    await SqlWorker(database).claim(5)
    await database.execute("vacuum analyze leasehold.jobs")
    await use_everything(reserved)


async def much_later(reserved: ReservedConnection, function: str, batch: int) -> None:
    """Call a function when every lease has run out and every scheduled job is due."""
    await reserved.execute("set local leasehold.frozen_clock = '2999-01-01'")
    await reserved.call(function, batch)


def calls(full: Full, reserved: ReservedConnection) -> Calls:
    """Each call with the number of jobs that it is about."""
    worker, stranger = full.worker.over(reserved), SqlWorker(reserved)
    batch = full.held[1000 : 1000 + BATCH]
    job_id = batch[0]["job_id"]
    first_id = min(job["job_id"] for job in full.held)
    new_keys = [{"kind": "new", "key": f"new{n}", "idempotency_key": f"{n}", "fingerprint": "x"} for n in range(BATCH)]
    one_key = [{"kind": "new", "key": "busy"}] * BATCH
    one_kind = [{"kind": "declared1", "args": {"order_id": n}} for n in range(BATCH)]
    many_kinds = [{"kind": f"declared{n}", "args": {"order_id": n}} for n in range(BATCH)]
    own_keys = [f"own{n}" for n in range(100)] + [f"held{n}" for n in range(100)]
    return {
        "claim": (BATCH, lambda: worker.claim(BATCH, kinds=["plain"])),
        "claim with keys": (BATCH, lambda: worker.claim(BATCH, kinds=["keyed"])),
        "claim from several": (BATCH, lambda: worker.claim(BATCH, kinds=["keyed", "plain"])),
        "claim one": (1, lambda: worker.claim(1, queues=["second"])),
        "claim nothing": (BATCH, lambda: worker.claim(BATCH, kinds=["nothing"])),
        "claim under a limit": (BATCH, lambda: worker.claim(BATCH, queues=["whole"])),
        "claim one under a limit": (10, lambda: worker.claim(1, queues=["whole"])),
        "claim from limited groups": (BATCH, lambda: worker.claim(BATCH, queues=["limited"])),
        "claim one from limited groups": (20, lambda: worker.claim(1, queues=["limited"])),
        "next look": (1, lambda: reserved.call("next_look_in")),
        "complete": (BATCH, lambda: worker.complete(batch)),
        "complete for another": (BATCH, lambda: stranger.complete(batch)),
        "fail": (BATCH, lambda: worker.fail(batch)),
        "fail and go on at once": (BATCH, lambda: worker.fail(batch, retry_in=[0.0] * BATCH)),
        "fail for good": (BATCH, lambda: worker.fail(batch, discard=[True] * BATCH)),
        "release": (BATCH, lambda: worker.release(batch)),
        "reschedule": (BATCH, lambda: worker.reschedule(batch, [5.0] * BATCH)),
        "renew": (BATCH, lambda: worker.renew(batch)),
        "renew for another": (BATCH, lambda: stranger.renew(batch)),
        "start": (BATCH, lambda: worker.start(batch)),
        "progress": (BATCH, lambda: say(worker, batch)),
        "progress for another": (BATCH, lambda: say(stranger, batch)),
        "get progress": (1, lambda: reserved.call("get_job_progress", job_id)),
        # Of one job, but it comes to every partition.
        "logs": (2 * BATCH, lambda: write_logs(reserved, batch)),
        "get logs": (10, lambda: reserved.call("get_job_logs", job_id)),
        "cancel": (1, lambda: reserved.call("cancel_job", job_id)),
        "assert_lease": (1, lambda: reserved.call("assert_lease", job_id, 1, worker.incarnation)),
        "enqueue new keys": (BATCH, lambda: enqueue_many(reserved, new_keys)),
        "enqueue one busy key": (BATCH, lambda: enqueue_many(reserved, one_key)),
        "enqueue one declared kind": (BATCH, lambda: enqueue_many(reserved, one_kind)),
        "enqueue many declared kinds": (BATCH, lambda: enqueue_many(reserved, many_kinds)),
        "enqueue one job": (1, lambda: enqueue(reserved, "declared1", args='{"order_id": 1}')),
        "make due": (BATCH, lambda: much_later(reserved, "make_jobs_due", BATCH)),
        "promote": (BATCH, lambda: reserved.call("promote_waiting_jobs", own_keys)),
        "sweep": (BATCH, lambda: reserved.call("promote_stranded_jobs", None, None, BATCH)),
        "sweep from the end": (BATCH, lambda: reserved.call("promote_stranded_jobs", None, None, BATCH, True)),
        "next due": (1, lambda: reserved.call("next_due_in")),
        "expire": (BATCH, lambda: much_later(reserved, "expire_jobs", BATCH)),
        "expire nothing": (1, lambda: reserved.call("expire_jobs")),
        "explain a held one": (1, lambda: reserved.call("explain_job", job_id)),
        "explain one whose key is held": (1, lambda: reserved.call("explain_job", first_id + MANY)),
        "explain the second of a line": (1, lambda: reserved.call("explain_job", first_id + 4 * MANY + 1)),
        "explain one behind others": (MANY // 4, lambda: reserved.call("explain_job", first_id + 4 * MANY - 1)),
        "get": (1, lambda: reserved.call("get_job", job_id)),
        "timeline": (1, lambda: reserved.call("get_job_timeline", job_id)),
        "cancels": (BATCH, lambda: reserved.call("list_cancels", [job["job_id"] for job in batch])),
        "list": (50, lambda: reserved.call("list_jobs")),
        "list failed jobs": (50, lambda: reserved.call("list_jobs", "failed")),
        "find the end of a page": (50, lambda: reserved.call("find_page_end", None, None, None, 50)),
        "get chain": (1, lambda: reserved.call("get_chain", job_id)),
        "list chains": (50, lambda: reserved.call("list_chains")),
        "list open chains": (50, lambda: reserved.call("list_chains", "open")),
        "list chain jobs": (1, lambda: reserved.call("list_chain_jobs", job_id)),
        "list blocked jobs": (1, lambda: reserved.call("list_blocked_jobs", job_id)),
        "watch chains": (BATCH, lambda: reserved.call("watch_chains", [job["job_id"] for job in batch], 60.0)),
        "complete chain": (1, lambda: reserved.call("complete_chain", job_id)),
        "cancel chain": (1, lambda: reserved.call("cancel_chain", job_id)),
        # Of one job, but it comes to every partition of four tables.
        "delete chain": (10, lambda: reserved.call("delete_chain", job_id, True)),
        "trigger": (BATCH, lambda: reserved.call("trigger_jobs", full.later)),
        # These read all that is held, by design, and it is never much.
        "reap": (BATCH + MANY // 10, lambda: much_later(reserved, "reap_jobs", BATCH)),
        "reap nothing": (MANY // 10, lambda: reserved.call("reap_jobs", BATCH)),
        "next expiry": (MANY // 10, lambda: reserved.call("next_expiry_in")),
        "held": (MANY // 10, lambda: reserved.call("held_jobs", worker.incarnation)),
    }


def is_too_much(work: Work, jobs: int) -> bool:
    return (
        work.seq_scans > 0
        or work.jobs_fetched > 20 * jobs
        or work.entries > 20 * jobs + 100
        or work.pages > 80 * jobs + 300 + work.planning
    )


async def work_of(reserved: ReservedConnection, call: Call) -> Work:
    """The work of a call that is rolled back. The first time, it pays for dead index entries that others left."""
    await _work_once(reserved, call)
    return await _work_once(reserved, call)


async def _work_once(reserved: ReservedConnection, call: Call) -> Work:
    await reserved.execute("begin")
    async with measured(reserved) as work:
        await call()
    await reserved.execute("rollback")
    (version,) = await reserved.fetch("select current_setting('server_version_num')::int as number")
    work.planning = 0 if version["number"] >= 180_000 else 150
    return work


async def too_much(reserved: ReservedConnection, calls: Calls) -> dict[str, Work]:
    """The calls that read too much, by name; each is rolled back."""
    found: dict[str, Work] = {}
    for name, (jobs, call) in calls.items():
        if is_too_much(await _work_once(reserved, call), jobs):
            work = await _work_once(reserved, call)
            if is_too_much(work, jobs):
                found[name] = work
    return found


async def too_much_whatever_is_known(
    database: Database, calls: Mapping[ReservedConnection, Calls], *tables: str
) -> dict[tuple[str, str], Work]:
    """The calls that read too much, by what Postgres knew of these tables, and by name.

    They leave dead index entries. New indexes keep those of one round out of the figures of the next.
    """
    found: dict[tuple[str, str], Work] = {}
    for known, script in statistics(*tables).items():
        await database.execute(script)
        for reserved, its_calls in calls.items():
            found |= {(known, name): work for name, work in (await too_much(reserved, its_calls)).items()}
        await database.execute("".join(f"reindex table leasehold.{table};" for table in tables))
    return found


async def test_no_call_reads_more_than_its_batch_is_worth(fresh_database: Database) -> None:
    """Of a connection without plans, and of one with those for an empty queue."""
    database = fresh_database
    await database.execute(UNDISTURBED)
    async with AsyncExitStack() as stack:
        connections = [await stack.enter_async_context(database.reserve("measured")) for _ in range(2)]
        for reserved, before in zip(connections, (nothing_yet, empty), strict=True):
            await before(database, reserved)
        full = await fill(database)
        each = {reserved: calls(full, reserved) for reserved in connections}
        assert await too_much_whatever_is_known(database, each, "jobs") == {}


@pytest.mark.parametrize("before", [few_and_analyzed, few_held_and_analyzed])
async def test_no_call_reads_more_with_plans_for_what_was_analyzed_when_it_was_small(
    fresh_database: Database, before: Callable[[Database, ReservedConnection], Awaitable[None]]
) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    async with database.reserve("measured") as reserved:
        await before(database, reserved)
        assert await too_much(reserved, calls(await fill(database), reserved)) == {}


# Small enough for every run; the ratios hold for any number.


async def pages_of_a_claim(database: Database) -> int:
    async with database.reserve("claimer") as reserved:
        return (await work_of(reserved, lambda: SqlWorker(reserved).claim(100, kinds=["plain"]))).pages


async def test_a_backlog_of_any_size_costs_a_claim_nothing(fresh_database: Database) -> None:
    await fresh_database.execute(UNDISTURBED)
    await pile_up(fresh_database, 100, "plain")
    small = await pages_of_a_claim(fresh_database)
    await pile_up(fresh_database, 10_000, "plain")
    await pile_up(fresh_database, 3_000, "unserved", priority=9)
    large = await pages_of_a_claim(fresh_database)
    print(f"pages of a claim of 100: {small} from 100 jobs, {large} from 13,000 (x {large / small:.2f})")
    assert large <= 1.25 * small


async def test_jobs_of_one_busy_key_in_front_of_free_ones_cost_a_claim_nothing(fresh_database: Database) -> None:
    await fresh_database.execute(UNDISTURBED)
    await pile_up(fresh_database, 2_000, "plain")
    free = await pages_of_a_claim(fresh_database)
    await pile_up(fresh_database, 1, "other", key="busy")
    await SqlWorker(fresh_database).claim(1, kinds=["other"])
    await pile_up(fresh_database, 8_000, "plain", key="busy", priority=9)
    behind = await pages_of_a_claim(fresh_database)
    print(f"pages of a claim of 100: {free} with nobody in front, {behind} behind 8,000 (x {behind / free:.2f})")
    assert behind <= 1.25 * free


async def test_jobs_of_a_full_group_in_front_of_free_ones_cost_a_claim_nothing(fresh_database: Database) -> None:
    batches = (1, 100)
    await fresh_database.execute(UNDISTURBED)
    await limit(fresh_database, 200, group="*")
    for n in range(10):
        await pile_up_group(fresh_database, f"g{n}", 300)
    await pile_up_group(fresh_database, None, 300)
    free = [await pages_of_a_limited_claim(fresh_database, batch) for batch in batches]
    await limit(fresh_database, 0, group="full")
    await pile_up_group(fresh_database, "full", 10_000)
    await fresh_database.execute("update leasehold.jobs set run_at = run_at - interval '1 h' where key_group = 'full'")
    await fresh_database.execute("vacuum leasehold.jobs")
    behind = [await pages_of_a_limited_claim(fresh_database, batch) for batch in batches]
    print(f"pages of claims of {batches}: {free} with nobody in front, {behind} behind 10,000")
    assert all(late <= 1.25 * early + 20 for early, late in zip(free, behind, strict=True))


async def pages_of_a_limited_claim(database: Database, batch: int) -> int:
    async with database.reserve("claimer") as reserved:
        work = await work_of(reserved, lambda: SqlWorker(reserved).claim(batch))
    assert work.seq_scans == 0
    return work.pages


async def test_future_jobs_cost_a_claim_nothing(fresh_database: Database) -> None:
    await fresh_database.execute(UNDISTURBED)
    await pile_up(fresh_database, 1000, "plain")
    before = await pages_of_a_claim(fresh_database)
    await pile_up(fresh_database, 3_000, "plain", priority=9)
    await fresh_database.execute(
        "update leasehold.jobs set state = 'scheduled', run_at = now() + '1 h' where priority = 9"
    )
    await fresh_database.execute("vacuum leasehold.jobs")
    assert await pages_of_a_claim(fresh_database) <= 1.25 * before
