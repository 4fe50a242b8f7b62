from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_schedules import create

OVERLAPPED = """
update leasehold.schedule_ticks set outcome = 'skipped', reason = 'overlap', job_count = 0, job_ids = null where id = 4
"""


async def test_each_schedule_of_a_page_has_a_row_with_its_last_few_the_newest_first(database: Database) -> None:
    for name in "abcd":
        await create(database, name)
    for name in "abaab":
        await database.call("trigger_schedule", name)
    await database.execute(OVERLAPPED)
    a, b = await database.call("list_recent_ticks", 2)
    assert (a["schedule"], a["outcome"], a["reason"]) == ("a", ["skipped", "fired"], ["overlap", None])
    assert a["job_count"] == [0, 1]
    assert a["tick_at"] == sorted(a["tick_at"], reverse=True)
    assert (b["schedule"], len(b["tick_at"])) == ("b", 2)
    [only] = await database.call("list_recent_ticks", 20, None, "a")
    assert only["schedule"] == "b"
    assert [row["schedule"] for row in await database.call("list_recent_ticks", page_size=1)] == ["a"]
    assert await database.call("list_recent_ticks", queue="elsewhere") == []
