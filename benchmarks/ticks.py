"""Many schedulers, schedules that tick every second, some schedulers killed and one with a wrong clock: does each tick fire once,
and how late?"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from benchmarks.figures import Figure, Result, Say, Size, Spread
from benchmarks.processes import running, until
from benchmarks.readings import count_transactions
from benchmarks.server import Connection, Server, connected

# Schedulers, of them killed on the way; schedules; seconds of ticks, after seconds of lead.
SIZES = {"full": (10, 2, 200, 60, 3.0), "quick": (5, 2, 50, 10, 3.0), "tiny": (3, 1, 10, 2, 1.0)}
HOUR = 3600
LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
)

CREATE = """
select count(leasehold.create_schedule(jsonb_build_object(
           'name', 'every second ' || n, 'kind', 'tick', 'missed', 'catch_up', 'catch_up_limit', 1000, 'starts_at', b.at,
           'ends_at', b.at + make_interval(secs => $2)) || case when n % 2 = 0 then '{"every": 1}'::jsonb
                                                               else '{"cron": "* * * * * *", "zone": "Europe/Berlin"}' end))
  from generate_series(1, $1::int) n, (select date_trunc('second', clock_timestamp()) + make_interval(secs => $3) as at) b
"""
READY = "select count(*) >= {0} from pg_stat_activity where datname = current_database() and application_name like '% scheduler'"
DONE = "select clock_timestamp() > max(ends_at) and bool_and(next_run_at is null) from leasehold.schedules"
LATENESS = "select extract(epoch from fired_at - tick_at)::float8 from leasehold.schedule_ticks"
COUNTS = """
select (select count(*) from leasehold.schedule_ticks where outcome = 'fired') as fired,
       (select count(*) from leasehold.schedule_ticks where outcome <> 'fired') as others,
       (select count(*) from leasehold.jobs) as jobs,
       (select count(distinct (metadata ->> 'schedule', metadata ->> 'tick')) from leasehold.jobs) as different,
       (select count(*) from leasehold.schedules s
          cross join generate_series(s.starts_at, s.ends_at - interval '1 second', '1 second') t(at)
         where not exists (select from leasehold.jobs j
                            where j.metadata ->> 'schedule' = s.name and (j.metadata ->> 'tick')::timestamptz = t.at)) as missing,
       (select count(distinct fired_by) from leasehold.schedule_ticks) as schedulers
"""


class TicksResult(Result, frozen=True, kw_only=True):
    """`wrong_clock` says how one scheduler got a clock that is an hour ahead, if it did."""

    schedulers: int
    killed: int
    schedules: int
    seconds: int
    fired: int
    jobs: int
    duplicates: int
    missing: int
    fired_by: int
    lateness: Spread
    statements_per_second: float
    postgres_cpu_percent: float
    wrong_clock: str


async def measure(server: Server, size: Size, say: Say) -> TicksResult:
    """All schedulers are ready before the first tick; kills are spread over the time."""
    schedulers, kills, schedules, seconds, lead = SIZES[size]
    clock, wrong_clock = _wrong_clock()
    async with AsyncExitStack() as stack:
        dsn = await stack.enter_async_context(server.database())
        connection = await stack.enter_async_context(connected(dsn))
        processes = [
            await stack.enter_async_context(running(dsn, "run", "scheduler", env=clock if n == 0 else None))
            for n in range(schedulers)
        ]
        await until(connection, READY.format(schedulers), *processes)
        say(f"{schedules} schedules a second for {seconds} s, {schedulers} schedulers, {kills} of them killed")
        await connection.fetchval(CREATE, schedules, float(seconds), lead)
        await asyncio.sleep(lead)
        before, cpu_before = await count_transactions(connection, dsn), server.cpu_seconds()
        for victim in processes[1 : kills + 1]:
            await asyncio.sleep(seconds / (kills + 1))
            victim.kill()
        await asyncio.sleep(seconds / (kills + 1))
        commits, cpu = await count_transactions(connection, dsn) - before, server.cpu_seconds() - cpu_before
        await until(connection, DONE, *processes[kills + 1 :])
        return await _result(connection, size, commits / seconds, cpu / seconds * 100, wrong_clock)


async def _result(connection: Connection, size: Size, per_second: float, cpu: float, wrong_clock: str) -> TicksResult:
    schedulers, kills, schedules, seconds, _ = SIZES[size]
    [counts] = await connection.fetch(COUNTS)
    lateness = Spread.of([row[0] for row in await connection.fetch(LATENESS)])
    duplicates = counts["jobs"] - counts["different"]
    return TicksResult(
        figures=[
            Figure(name="ticks fired", value=counts["fired"], unit="", at_least=schedules * seconds),
            Figure(name="ticks fired twice", value=duplicates, unit="", at_most=0),
            Figure(name="ticks missing", value=counts["missing"], unit="", at_most=0),
            *lateness.figures("after the tick"),
            Figure(name="statements of all schedulers", value=per_second, unit="/s"),
            Figure(name="CPU of Postgres", value=cpu, unit="% of a core"),
        ],
        schedulers=schedulers,
        killed=kills,
        schedules=schedules,
        seconds=seconds,
        fired=counts["fired"],
        jobs=counts["jobs"],
        duplicates=duplicates,
        missing=counts["missing"] + counts["others"],
        fired_by=counts["schedulers"],
        lateness=lateness,
        statements_per_second=per_second,
        postgres_cpu_percent=cpu,
        wrong_clock=wrong_clock,
    )


def _wrong_clock() -> tuple[Mapping[str, str], str]:
    """The environment in which a process sees a clock that is an hour ahead, and a word on it."""
    candidates: Sequence[str] = (os.environ.get("LIBFAKETIME", ""), *LIBRARIES)
    library = next((path for path in candidates if path and Path(path).is_file()), None)
    if library is None:
        return {}, "none: no libfaketime here (apt install libfaketime, or LIBFAKETIME=path)"
    return {"LD_PRELOAD": library, "FAKETIME": f"+{HOUR}", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}, "libfaketime, +1 h"
