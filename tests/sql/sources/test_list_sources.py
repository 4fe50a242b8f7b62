from __future__ import annotations

from leasehold.database import Database


async def test_each_source_is_listed_with_what_has_moved(tasks: Database) -> None:
    await tasks.execute(
        "insert into worker_tasks (role, status) values ('store_discovery', 'pending'), ('store_discovery', 'completed');"
        "insert into task_schedules (name, role, interval_hours) values ('hourly', 'store_discovery', 1)"
    )
    [before] = await tasks.call("list_sources")
    assert (before["source"], before["sealed_at"], before["jobs"], before["schedules"]) == ("worker_tasks", None, 0, 0)
    await tasks.call("seal_source")
    await tasks.call("move_jobs")
    await tasks.call("move_schedules")
    [after] = await tasks.call("list_sources")
    assert after["sealed_at"] is not None
    assert (after["jobs"], after["schedules"], after["cancelled"]) == (1, 1, 0)
