"""What a former owner still writes is refused with the reason and changes nothing, whichever function it calls."""

from __future__ import annotations

from leasehold.database import Database, Row
from tests.support.sql_guards import LOSSES, foreign_job, lost_job
from tests.support.sql_jobs import snapshot
from tests.support.sql_worker import Refusals, SqlWorker, identities, refusals

PART = {"jobs": [{"kind": "part"}], "blockers": [{"position": 1}]}


async def write(worker: SqlWorker, job: Row) -> dict[str, Refusals]:
    """Call all functions that write for the holder of a job; the answer of each."""
    continued = await worker.continue_with([job], [{"next": {"kind": "b"}}], ["late"])
    failed = await worker.fail([job])
    assert [new_ids for _, new_ids in continued.values()] == [None]
    assert [(row["outcome"], row["run_at"]) for row in failed.values()] == [("refused", None)]
    progress = await worker.caller.call("report_progress", worker.incarnation, *identities([job]), [0.5], [None])
    return {
        "continue_jobs": {job_id: str(reason) for job_id, (reason, _) in continued.items()},
        "fail_jobs": {job_id: row["reason"] for job_id, row in failed.items()},
        "report_progress": refusals(progress),
        "block_jobs": await worker.block([job], [PART]),
        "start_jobs": await worker.start([job]),
        "renew_leases": await worker.renew([job]),
        "release_jobs": await worker.release([job]),
        "reschedule_jobs": await worker.reschedule([job], [5.0]),
        "complete_jobs": await worker.complete([job], ["late"]),
    }


async def test_a_former_owner_is_refused_with_the_reason(database: Database, worker: SqlWorker) -> None:
    for loss in LOSSES:
        lost = await lost_job(database, worker, loss)
        before = await snapshot(database)
        answers = await write(worker, lost)
        assert {function: answer for function, answer in answers.items() if answer != {1: loss.reason}} == {}, loss.name
        assert await snapshot(database) == before
        assert await database.call("get_job_progress", 1) == []


async def test_another_incarnation_of_the_same_worker_is_refused(database: Database) -> None:
    foreign = await foreign_job(database)
    before = await snapshot(database)
    answers = await write(SqlWorker(database, "holder"), foreign)
    assert {function: answer for function, answer in answers.items() if answer != {1: "taken_by_another_worker"}} == {}
    assert await snapshot(database) == before
