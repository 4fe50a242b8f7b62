from __future__ import annotations

from datetime import UTC, datetime

import pytest

from leasehold.cli.commands.sources import view_migration
from leasehold.client import Client, sources_of
from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sources.making import counted, define
from tests.support.sources.seeds import CRAWL_JOBS, WORKER_TASKS
from tests.support.sql_kinds import ORDER, declare


async def test_a_source_moves_in_as_a_whole_and_twice_is_once(database: Database) -> None:
    await database.execute(WORKER_TASKS)
    await database.execute(
        "insert into worker_tasks (role, dispensary_id) select 'product_resync', n from generate_series(1, 25) n;"
        "insert into task_schedules (name, role, interval_hours) values ('hourly', 'store_discovery', 1)"
    )
    await define(database, "worker_tasks")
    sources = sources_of(Client(database))
    assert [(each.state, each.row_count) for each in await sources.plan()] == [("pending", 25), ("schedule", 1)]
    assert await sources.seal()
    told: list[int] = []
    [moved] = await sources.move_jobs(batch=10, progress=told.append)
    assert told == [10, 20, 25]
    assert (moved.source_table, moved.moved) == ("public.worker_tasks", 25)
    done = await sources.migrate()
    assert ([each.name for each in done.schedules], done.jobs[0].moved) == (["hourly"], 0)
    assert (await sources.migrate()).schedules == []
    [listed] = await sources.list()
    assert (listed.jobs, listed.schedules) == (25, 1)
    assert await counted(database, "leasehold.jobs", "kind") == {"product_resync": 25}
    assert await sources.open()


async def test_rows_that_are_refused_are_told_after_the_move(database: Database) -> None:
    await database.execute(WORKER_TASKS)
    await database.execute(
        "insert into worker_tasks (role, dispensary_id) values ('product_resync', 1), ('store_discovery', 2)"
    )
    await define(database, "worker_tasks")
    await declare(database, {"kind": "product_resync", "args_schema": ORDER})
    done = await sources_of(Client(database)).migrate()
    assert [each.moved for each in done.jobs] == [1]
    [line] = done.refused
    assert (line.source_table, line.refused) == ("public.worker_tasks", 1)
    assert "args do not fit product_resync" in str(line.complaint)
    [shown, told, *_] = view_migration(done, datetime.now(UTC))
    assert ("1 jobs moved" in str(shown), "1 refused and still there" in str(told)) == (True, True)


async def test_the_crawl_jobs_end_and_each_shop_gets_a_job(database: Database) -> None:
    await database.execute(WORKER_TASKS + CRAWL_JOBS)
    await define(database, "crawl_jobs")
    done = await sources_of(Client(database)).migrate()
    assert [(each.moved, each.cancelled) for each in done.jobs] == [(0, 3)]
    assert sum(each.made for each in done.refilled) == 12
    assert await counted(database, "dispensary_crawl_jobs", "status") == {"cancelled": 3, "completed": 3, "running": 3}


async def test_a_source_that_cannot_be_read_is_left_to_its_own_workers(database: Database) -> None:
    """Nothing would move, and nobody would work there."""
    await database.execute(WORKER_TASKS)
    await define(database, "worker_tasks")
    await database.execute("alter table task_schedules drop column state_code")
    sources = sources_of(Client(database))
    for act in (sources.migrate, sources.seal):
        with pytest.raises(BadInput, match=r"does not fit public\.task_schedules: .*state_code"):
            await act()
    assert [each.sealed_at for each in await sources.list()] == [None]
