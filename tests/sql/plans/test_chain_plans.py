"""How much the calls about chains read (see test_plans): what others wait for costs nobody anything."""

from __future__ import annotations

from leasehold.database import Database, ReservedConnection, Row
from tests.sql.plans.test_plans import BATCH, MANY, Calls, too_much_whatever_is_known, work_of
from tests.support.sql_chains import blocked_by, claim_kind, complete_all, enqueue_blocked, sweep
from tests.support.sql_jobs import enqueue_many, pile_up
from tests.support.sql_work import UNDISTURBED, Work
from tests.support.sql_worker import SqlWorker

NEXT = {"next": {"kind": "after", "key": "after"}}
FAN = {
    "jobs": [{"kind": "x"}, {"kind": "x"}],
    "next": {"kind": "join", "blockers": [{"position": 1}, {"position": 2}]},
}
WAIT = {"jobs": [{"kind": "x"}], "blockers": [{"position": 1}]}


class Full:
    """A database with MANY jobs each: held by us and blocking one, blocked by those, held and blocking one together, held
    and blocking nobody, pending; and as many closed edges. One more is blocked by a batch of its own."""

    def __init__(
        self,
        worker: SqlWorker,
        plain: list[Row],
        parts: list[Row],
        together: list[Row],
        joined: int,
        top: int,
    ) -> None:
        self.worker = worker
        self.plain, self.parts, self.together, self.joined, self.top = plain, parts, together, joined, top


async def fill(reserved: ReservedConnection) -> Full:
    worker = SqlWorker(reserved)
    await pile_up(reserved, MANY, "done")
    done = await claim_kind(worker, "done")
    await worker.complete(done)
    await enqueue_many(reserved, [{"kind": "late", "blockers": [row["job_id"]]} for row in done[:MANY]])
    await pile_up(reserved, MANY, "one")
    ones = await claim_kind(worker, "one")
    await enqueue_many(
        reserved, [{"kind": "waits", "key": f"k{n}", "blockers": [row["job_id"]]} for n, row in enumerate(ones)]
    )
    _, joined = await blocked_by(reserved, MANY)
    together = await claim_kind(worker, "part")
    _, top = await blocked_by(reserved, BATCH)
    await pile_up(reserved, MANY, "plain", key="plain%s")
    plain = await worker.claim(MANY, kinds=["plain"])
    await pile_up(reserved, MANY, "idle")
    return Full(worker, plain, ones, together, joined, top)


async def use_everything(reserved: ReservedConnection) -> None:
    """Call everything about chains until this connection has made the plans that it will keep."""
    worker = SqlWorker(reserved)
    for _ in range(8):
        parts, joined = await blocked_by(reserved, 3)
        held = await claim_kind(worker, "part")
        await worker.complete(held[:1])
        await worker.block(held[1:2], [WAIT])
        await worker.continue_with(held[2:], [FAN])
        await complete_all(worker, "x")
        await enqueue_blocked(reserved, [parts[0], parts[1]])
        await complete_all(worker, "part")
        await sweep(reserved)
        await reserved.call("chain_tail", parts[0])
        await reserved.call("is_over", parts[0], None)
        await reserved.call("cancel_job", joined)
        await reserved.call("retry_job", joined)
        for kind in ("join", "joined", "x"):
            await complete_all(worker, kind)
    await reserved.execute("delete from leasehold.jobs; delete from leasehold.finished_jobs")


def calls(full: Full, reserved: ReservedConnection) -> Calls:
    """Each call with the number of jobs that it is about: those given, new, and released."""
    worker = full.worker.over(reserved)
    plain, parts, together = (rows[1000 : 1000 + BATCH] for rows in (full.plain, full.parts, full.together))
    open_ids, part = [row["job_id"] for row in parts], parts[0]["job_id"]
    return {
        "complete plain jobs": (BATCH, lambda: worker.complete(plain)),
        "complete and release": (2 * BATCH, lambda: worker.complete(parts)),
        "complete some of a fan-in": (2 * BATCH, lambda: worker.complete(together)),
        "complete one of a fan-in": (4, lambda: worker.complete(together[:1])),
        "complete one job": (2, lambda: reserved.call("complete_job", part, 1, worker.incarnation)),
        "continue to the end": (2 * BATCH, lambda: worker.continue_with(parts, [None] * BATCH)),
        "continue": (2 * BATCH, lambda: worker.continue_with(plain, [NEXT] * BATCH)),
        "continue and fan out": (4 * BATCH, lambda: worker.continue_with(plain, [FAN] * BATCH)),
        "block": (3 * BATCH, lambda: worker.block(plain, [WAIT] * BATCH)),
        "fail for good": (BATCH, lambda: worker.fail(parts, discard=[True] * BATCH)),
        "cancel": (1, lambda: reserved.call("cancel_job", part)),
        # It comes to every partition of four tables for each of them.
        "delete with what is below": (10 * BATCH, lambda: reserved.call("delete_chain", full.top, True)),
        "cancel a blocked job": (1, lambda: reserved.call("cancel_job", full.joined)),
        "enqueue blocked jobs": (
            2 * BATCH,
            lambda: enqueue_many(reserved, [{"kind": "b", "blockers": [n]} for n in open_ids]),
        ),
        "enqueue a fan-in": (BATCH, lambda: enqueue_blocked(reserved, open_ids)),
        "close what nobody waits for": (1, lambda: reserved.call("close_chains", [full.plain[0]["job_id"]], True)),
        "unblock what stays blocked": (4, lambda: reserved.call("unblock_jobs", [full.joined])),
        "sweep": (2 * BATCH, lambda: reserved.call("unblock_stranded_jobs", None, None, BATCH)),
        "tail": (1, lambda: reserved.call("chain_tail", part)),
        "completed?": (1, lambda: reserved.call("is_over", part, None)),
    }


async def test_no_call_reads_more_than_its_batch_is_worth(fresh_database: Database) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    async with database.reserve("new") as new, database.reserve("used") as used, database.reserve("filler") as filler:
        await use_everything(used)
        full = await fill(filler)
        each = {reserved: calls(full, reserved) for reserved in (new, used)}
        assert await too_much_whatever_is_known(database, each, "jobs", "job_blockers") == {}


async def completing(database: Database, jobs: list[Row], worker: SqlWorker) -> Work:
    async with database.reserve("settler") as reserved:
        return await work_of(reserved, lambda: worker.over(reserved).complete(jobs))


async def test_edges_of_others_cost_a_plain_completion_next_to_nothing(fresh_database: Database) -> None:
    database, worker = fresh_database, SqlWorker(fresh_database)
    await database.execute(UNDISTURBED)
    await pile_up(database, BATCH, "plain")
    plain = await claim_kind(worker, "plain")
    await pile_up(database, MANY + 1, "others")
    # The last of three: what was rolled back leaves entries, and an index that grows a level reads a page more.
    alone = [await completing(database, plain, worker) for _ in range(3)][-1]
    await blocked_by(database, MANY)
    among_others = await completing(database, plain, worker)
    print(f"pages of a completion of {BATCH}: {alone.pages} alone, {among_others.pages} among {MANY} edges of others")
    assert among_others.pages <= alone.pages + 20
    assert among_others.jobs_fetched == alone.jobs_fetched


async def test_a_late_one_of_many_blockers_costs_as_little_as_the_first(fresh_database: Database) -> None:
    """Even while somebody's open snapshot keeps every entry of a closed edge alive."""
    database, worker = fresh_database, SqlWorker(fresh_database)
    await database.execute(UNDISTURBED)
    await blocked_by(database, MANY)
    parts = await claim_kind(worker, "part")
    async with database.reserve("dump") as dump:
        await dump.execute("begin isolation level repeatable read")
        await dump.fetch("select from leasehold.jobs")
        first = await completing(database, parts[:1], worker)
        for start in range(0, MANY - 500, 500):
            await worker.complete(parts[start : start + 500])
        later = await completing(database, parts[-1:], worker)
    print(f"pages of completing one of {MANY} blockers: {first.pages} for the first, {later.pages} for one of the last")
    assert first.pages <= 300 + first.planning
    assert later.pages <= first.pages + 50
