from __future__ import annotations

from leasehold.database import Database
from tests.support.sources.making import counted

RETRY = "update worker_tasks set status = 'pending', retry_count = 0 where status = 'failed'"
"""As the task workers' documents retry failed tasks, and without their limit."""


async def test_a_moved_task_cannot_be_made_pending_again(tasks: Database) -> None:
    await tasks.execute(
        "insert into worker_tasks (role, status) values ('store_discovery', 'pending'), ('store_discovery', 'failed')"
    )
    await tasks.call("seal_source")
    await tasks.call("move_jobs")
    await tasks.execute(RETRY)
    assert await counted(tasks, "worker_tasks", "status") == {"failed": 1, "pending": 1}
    await tasks.call("move_jobs")
    assert await counted(tasks, "leasehold.moved_rows", "row_id") == {"1": 1, "2": 1}


async def test_a_task_that_runs_may_end_and_tell_how_far_it_is(tasks: Database) -> None:
    await tasks.execute("insert into worker_tasks (role, status) values ('store_discovery', 'claimed')")
    await tasks.call("seal_source")
    for state in ("running", "completed"):
        await tasks.execute(f"update worker_tasks set status = '{state}', last_heartbeat_at = now()")
        assert await counted(tasks, "worker_tasks", "status") == {state: 1}
