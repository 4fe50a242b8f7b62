"""As test_plans.py, for jobs that are unique: what a call reads depends on the call, never on how many others there are."""

from __future__ import annotations

import pytest

from leasehold.database import Database, ReservedConnection
from tests.sql.plans.test_plans import BATCH, MANY, Call, too_much
from tests.support.sql_jobs import pile_up
from tests.support.sql_unique import enqueue_unique
from tests.support.sql_work import UNDISTURBED
from tests.support.sql_worker import SqlWorker

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


@pytest.mark.parametrize("is_warm", [False, True], ids=["new", "with the plans of an empty queue"])
async def test_no_call_reads_more_than_its_batch_is_worth(fresh_database: Database, is_warm: bool) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    async with database.reserve("measured") as reserved:
        if is_warm:
            await warm_up(reserved)
        await pile_up(database, MANY, "plain")
        await enqueue_unique(database, *jobs(0, MANY))
        ended = await SqlWorker(database).claim(BATCH, kinds=["u"])
        held = [job["job_id"] for job in ended]
        calls: dict[str, tuple[int, Call]] = {
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
        assert await too_much(database, calls, reserved, "jobs", "unique_jobs", "unique_claims") == {}
