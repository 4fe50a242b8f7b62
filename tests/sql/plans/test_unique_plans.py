"""As test_plans.py, for jobs that are unique: what a call reads depends on the call, never on how many others there are."""

from __future__ import annotations

from leasehold.database import Database, ReservedConnection
from tests.sql.plans.test_plans import BATCH, MANY, Calls, too_much_whatever_is_known
from tests.support.sql_jobs import pile_up
from tests.support.sql_unique import enqueue_unique
from tests.support.sql_work import UNDISTURBED
from tests.support.sql_worker import SqlWorker, ids

POLICIES = ("existing", "reject", "replace", "extend", "overwrite")


def jobs(first: int, count: int, on_conflict: str = "existing", **terms: object) -> list[dict[str, object]]:
    unique = {"on_conflict": on_conflict, "by": ["kind", "args.n"], **terms}
    return [{"kind": "u", "args": {"n": n}, "unique": unique} for n in range(first, first + count)]


async def warm_up(reserved: ReservedConnection) -> None:
    """Have this connection make its plans for an empty table."""
    worker = SqlWorker(reserved)
    for _ in range(8):
        for on_conflict in POLICIES:
            terms: dict[str, object] = {"states": ["pending", "scheduled", "waiting", "blocked"], "scope": "chain"}
            new = jobs(0, 2, on_conflict) if on_conflict != "reject" else jobs(5, 1, on_conflict)
            await enqueue_unique(reserved, *new, *jobs(3, 2, "existing", **terms))
            claimed = await worker.claim(100)
            await worker.fail(claimed, discard=[True] * len(claimed))
            await reserved.call("retry_jobs", dry_run=False, timeout=None)
            claimed = await worker.claim(100)
            await worker.complete(claimed)
    for table in ("jobs", "finished_jobs", "job_events", "unique_jobs", "unique_claims"):
        await reserved.execute(f"delete from leasehold.{table}")


def calls(reserved: ReservedConnection, held: list[int]) -> Calls:
    """Each call with the number of jobs that it is about."""
    return {
        "new": (BATCH, lambda: enqueue_unique(reserved, *jobs(MANY, BATCH))),
        "one": (1, lambda: enqueue_unique(reserved, *jobs(MANY, 1))),
        "existing": (BATCH, lambda: enqueue_unique(reserved, *jobs(1000, BATCH))),
        "held": (BATCH, lambda: enqueue_unique(reserved, *jobs(0, BATCH, "replace"))),
        "replace": (BATCH, lambda: enqueue_unique(reserved, *jobs(1000, BATCH, "replace"))),
        "extend": (BATCH, lambda: enqueue_unique(reserved, *jobs(1000, BATCH, "extend"))),
        "chain": (BATCH, lambda: enqueue_unique(reserved, *jobs(1000, BATCH, scope="chain"))),
        "reclaim": (BATCH, lambda: reserved.call("reclaim_unique_jobs", held)),
        "edit": (1, lambda: reserved.call("edit_job", held[-1] + 100, priority=5, timeout=None)),
        "errors": (1, lambda: reserved.call("get_job_errors", held[0])),
    }


async def test_no_call_reads_more_than_its_batch_is_worth(fresh_database: Database) -> None:
    """Neither of a new connection, nor of one with the plans of an empty queue."""
    database = fresh_database
    await database.execute(UNDISTURBED)
    async with database.reserve("new") as new, database.reserve("warm") as warm:
        await warm_up(warm)
        await pile_up(database, MANY, "plain")
        await enqueue_unique(database, *jobs(0, MANY))
        ended = await SqlWorker(database).claim(BATCH, kinds=["u"])
        each = {reserved: calls(reserved, ids(ended)) for reserved in (new, warm)}
        assert await too_much_whatever_is_known(database, each, "jobs", "unique_jobs", "unique_claims") == {}
