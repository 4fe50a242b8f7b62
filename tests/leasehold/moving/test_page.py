"""docs/moving-in.md: the statements of the task workers' documents, and ours for them, run."""

from __future__ import annotations

import re
from pathlib import Path

from leasehold.database import Database
from leasehold.moving.mapping import READY
from tests.support.sources.making import define
from tests.support.sources.seeds import WORKER_TASKS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "moving-in.md").read_text("utf-8")
ROW = re.compile(r"^\| [^|]+ \| `(SELECT|UPDATE)([^`]+)` \| `(select [^`]+)` \|$", re.MULTILINE)
THEIRS_ALONE = ("recover_stale_tasks", "generate_resync_tasks", "v_worker_capacity")
"""What their own migrations make; their documents do not show it."""


async def test_every_statement_of_the_task_workers_has_one_here_that_runs(database: Database) -> None:
    await database.execute(WORKER_TASKS)
    await define(database, "worker_tasks")
    await database.execute(
        "insert into task_schedules (name, role, interval_hours) values ('payload_fetch_all', 'payload_fetch', 4)"
    )
    await database.call("move_schedules")
    rows = ROW.findall(PAGE)
    assert len(rows) == 9
    for verb, theirs, ours in rows:
        if not any(name in theirs for name in THEIRS_ALONE):
            await database.execute(verb + theirs)
        await database.execute(ours)
    [made] = await database.fetch("select count(*) as jobs, count(distinct key) as keys from leasehold.jobs")
    assert (made["jobs"], made["keys"]) == (10, 10)


def test_the_page_has_a_row_for_every_ready_mapping() -> None:
    assert sorted(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == sorted(READY)
