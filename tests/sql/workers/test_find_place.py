from __future__ import annotations

from uuid import UUID

import pytest

from leasehold.database import Database
from tests.support.sql_worker import SqlWorker

FLEET = """
insert into leasehold.workers (incarnation, worker_id, host, pid, version, queues, kinds, slots, listening, started_at,
                               heartbeat_at, heartbeat_seconds, state, idle)
select lpad(n::text, 32, '0')::uuid, 'w' || n, 'h', n, '0', '{}', array[$2 || n % $3], 1, true,
       now() - interval '1 h' + n * interval '1 s', now(), 30, 'ready', true
  from generate_series(1, $1::integer) n
"""
TOLD = """
select coalesce(array_agg(w.pid order by w.pid) filter (where not p.is_to_listen), '{}') as rest,
       array_agg(distinct p.idle_alike) as idle_alike
  from leasehold.workers w cross join lateral leasehold.find_place(w.incarnation, leasehold.clock()) p
"""


@pytest.fixture
async def resting(database: Database) -> list[int]:
    """Those of 40 workers that are told to rest."""
    await database.fetch(FLEET, 40, "k", 1)
    return await rest(database)


async def rest(database: Database) -> list[int]:
    return (await database.fetch(TOLD))[0]["rest"]


async def test_in_a_fleet_of_32_all_listen(database: Database) -> None:
    await database.fetch(FLEET, 32, "k", 3)
    assert await rest(database) == []


async def test_in_a_larger_one_those_listen_that_started_first(database: Database, resting: list[int]) -> None:
    assert resting == list(range(33, 41))
    assert (await database.fetch(TOLD))[0]["idle_alike"] == [40]


async def test_who_died_stopped_or_listens_no_more_is_passed_by(database: Database, resting: list[int]) -> None:
    await database.execute(
        "update leasehold.workers set heartbeat_at = now() - interval '76 s' where pid = 1;"
        "update leasehold.workers set state = 'stopped', stopped_at = now() where pid = 2;"
        "update leasehold.workers set listening = false where pid = 3"
    )
    assert set(await rest(database)) == set(resting) - {33, 34, 35}


async def test_who_has_just_started_has_a_minute_to_begin_to_listen(database: Database, resting: list[int]) -> None:
    await database.execute("update leasehold.workers set listening = false, started_at = started_at + interval '1 h'")
    assert await rest(database) == resting
    await database.execute("update leasehold.workers set started_at = started_at - interval '2 min'")
    assert await rest(database) == []


async def test_of_each_sort_of_workers_two_listen_however_late_they_started(database: Database) -> None:
    await database.fetch(FLEET, 300, "many", 1)
    await database.fetch(FLEET.replace("lpad(n::text", "lpad((n + 300)::text"), 5, "few", 1)
    few = "select p.is_to_listen from leasehold.workers w, leasehold.find_place(w.incarnation, leasehold.clock()) p"
    few += " where w.kinds = '{few0}' order by w.started_at"
    assert [row["is_to_listen"] for row in await database.fetch(few)] == [True, True, False, False, False]


async def test_paused_workers_take_no_places_of_others(database: Database, resting: list[int]) -> None:
    await database.execute("update leasehold.workers set state = 'paused' where pid <= 10")
    assert await rest(database) == []
    await database.execute("update leasehold.workers set state = 'paused'")
    assert await rest(database) == resting


async def test_a_heartbeat_tells_a_worker_its_place_and_knows_none_of_a_stranger(database: Database) -> None:
    await database.fetch(FLEET, 40, "k", 1)
    late = SqlWorker(database)
    await late.register(kinds=["k0"])
    [row] = await database.call("heartbeat_worker", late.incarnation, 0, "ready", False)
    assert (row["is_to_listen"], row["idle_alike"]) == (False, 40)
    [row] = await database.call("heartbeat_worker", SqlWorker(database).incarnation, 0, "ready", False)
    assert (row["is_to_listen"], row["idle_alike"]) == (None, None)


async def test_in_a_fleet_of_a_thousand_those_that_rest_ask_now_and_then(fresh_database: Database) -> None:
    """Looking at all workers at each heartbeat would make the cost of a fleet grow with its square."""
    await fresh_database.fetch(FLEET, 1_000, "k", 1)
    assert await count_told(fresh_database, listening=False) == 1_000, "the statistics do not know of the fleet yet"
    await fresh_database.execute("vacuum analyze leasehold.workers")
    assert 0 < await count_told(fresh_database, listening=False) < 200
    assert await count_told(fresh_database, listening=True) == 1_000
    await fresh_database.execute("update leasehold.workers set started_at = now()")
    assert await count_told(fresh_database, listening=False) == 1_000


async def test_workers_that_have_stopped_make_nobody_ask_less_often(fresh_database: Database) -> None:
    await fresh_database.fetch(FLEET, 1_000, "k", 1)
    await fresh_database.execute("update leasehold.workers set stopped_at = now(), state = 'stopped' where pid <= 960")
    await fresh_database.execute("vacuum analyze leasehold.workers")
    assert await count_told(fresh_database, listening=False) == 1_000


async def count_told(database: Database, *, listening: bool) -> int:
    """How many of 1,000 heartbeats of the last worker tell it its place."""
    beat = "select count(h.is_to_listen) from generate_series(1, 1000) n, lateral leasehold.heartbeat_worker($1, n, 'ready', $2) h"
    [row] = await database.fetch(beat, UUID(f"{1_000:032}"), listening)
    return row[0]
