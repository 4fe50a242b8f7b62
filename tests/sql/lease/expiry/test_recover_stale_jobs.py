from __future__ import annotations

from decimal import Decimal

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, UnknownWorker
from tests.support.sql_guards import expire
from tests.support.sql_jobs import pile_up, states
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker, frozen_worker


async def test_it_takes_back_what_has_not_been_renewed_for_minutes_and_what_has_expired(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        claimed = await worker.given_all([{"kind": "a"}] * 3, lease=86400)
        await freeze(connection, "2026-03-01 12:05Z")
        await worker.renew(claimed[:2], lease=86400)
        await expire(connection, 2)
        await freeze(connection, "2026-03-01 12:06Z")
        assert await connection.call_value("recover_stale_jobs", Decimal("1.5")) == 2
        assert await states(connection) == {1: "running", 2: "pending", 3: "pending"}
        assert await connection.call_value("recover_stale_jobs", Decimal("1.5")) == 0
        assert await connection.call_value("recover_stale_jobs", Decimal("0.5")) == 1


async def test_the_timeline_does_not_say_of_a_lease_that_it_ran_out_where_it_did_not(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await worker.given_all([{"kind": "a"}], lease=3600)
        await freeze(connection, "2026-03-01 12:06Z")
        assert await connection.call_value("recover_stale_jobs", 5) == 1
        [told] = await connection.fetch("select message from leasehold.job_events where event = 'reaped'")
    assert "was taken back before it ran out: nobody has renewed it since 2026-03-01 12:00:00+00" in told["message"]


async def test_it_takes_back_any_number(database: Database, worker: SqlWorker) -> None:
    await pile_up(database, 2500)
    await worker.claim(2500)
    await database.execute("update leasehold.jobs set lease_expires_at = now() - interval '1 s'")
    assert await database.call_value("recover_stale_jobs", 15) == 2500
    assert set((await states(database)).values()) == {"pending"}


async def test_it_takes_back_what_one_worker_has(database: Database) -> None:
    first, second = SqlWorker(database, "w1"), SqlWorker(database, "w2")
    for worker in (first, second):
        await worker.register()
        await pile_up(database, 1)
        await worker.claim()
    await database.execute("update leasehold.jobs set claimed_at = now() - interval '1 h'")
    with pytest.raises(UnknownWorker):
        await database.call("recover_stale_jobs", 15, worker="w3")
    assert await database.call_value("recover_stale_jobs", 15, worker="w2") == 1
    assert await states(database) == {1: "claimed", 2: "pending"}


async def test_minutes_out_of_range_are_refused(database: Database) -> None:
    cases: list[object] = [0, -1, None, Decimal("NaN"), 10**12]
    for minutes in cases:
        with pytest.raises(BadInput):
            await database.call("recover_stale_jobs", minutes)
