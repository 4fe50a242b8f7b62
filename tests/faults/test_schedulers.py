"""Many schedulers, some of which die: each tick once. `python -m benchmarks ticks` is the long form, with a wrong clock as well."""

from __future__ import annotations

import pytest

from tests.support.fleet import Fleet
from tests.support.waiting import eventually

pytestmark = pytest.mark.acceptance

SCHEDULES, SECONDS = 20, 3
CREATE = """
select count(leasehold.create_schedule(jsonb_build_object(
           'name', 's' || n, 'kind', 'tick', 'missed', 'catch_up', 'grace', 0, 'starts_at', b.at,
           'ends_at', b.at + make_interval(secs => $2),
           'query', case when n % 5 = 0 then 'select 1 as n, pg_sleep(0.1)::text as slept' end)
           || case when n % 2 = 0 then '{"every": 1}'::jsonb else '{"cron": "* * * * * *"}' end))
  from generate_series(1, $1::int) n, (select clock_timestamp() + interval '0.3 s' as at offset 0) b
"""
OVER = """
select clock_timestamp() > max(ends_at) and bool_and(next_run_at is null and planned_revision is not null) from leasehold.schedules
"""
TICKS = "select schedule, tick_at, outcome, job_count from leasehold.schedule_history order by 1, 2"
DIFFERENT = "select count(*), count(distinct (metadata ->> 'schedule', metadata ->> 'tick')) from leasehold.jobs"


async def test_each_tick_fires_once_although_schedulers_are_killed(fleet: Fleet) -> None:
    schedulers = [fleet.run("scheduler") for _ in range(4)]
    for scheduler in schedulers:
        await scheduler.until_line("running scheduler")
    await fleet.value(CREATE, SCHEDULES, float(SECONDS))
    for number, victim in enumerate(schedulers[:3], 1):
        await fired(fleet, SCHEDULES * number // 2)
        victim.kill()
    await eventually(lambda: fleet.value(OVER))
    rows = await fleet.database.fetch(TICKS)
    assert {(row["outcome"], row["job_count"]) for row in rows} == {("fired", 1)}
    assert len(rows) == SCHEDULES * SECONDS
    assert tuple((await fleet.database.fetch(DIFFERENT))[0]) == (len(rows), len(rows))


async def fired(fleet: Fleet, count: int) -> None:
    """Until so many ticks have."""

    async def probe() -> bool:
        return await fleet.value("select count(*) from leasehold.schedule_ticks") >= count

    await eventually(probe)
