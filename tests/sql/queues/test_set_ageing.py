from __future__ import annotations

from datetime import timedelta

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_jobs import empty


async def ageing(database: Database) -> list[tuple[str, timedelta | None]]:
    rows = await database.fetch("select queue, ageing from leasehold.queues order by queue")
    return [(row["queue"], row["ageing"]) for row in rows]


async def test_a_queue_may_age_its_jobs_and_stop_doing_so(database: Database) -> None:
    minute = timedelta(minutes=1)
    assert await database.call_value("set_ageing", "q", minute) is True
    assert await database.call_value("set_ageing", "q", minute) is False
    assert await ageing(database) == [("q", minute)]
    assert await database.call_value("set_ageing", "q") is True
    assert await database.call_value("set_ageing", "q") is False
    assert await ageing(database) == [("q", None)]


async def test_a_paused_queue_stays_paused(database: Database) -> None:
    await database.call("pause_queue", "q", "why")
    await database.call("set_ageing", "q", timedelta(seconds=1))
    (row,) = await database.fetch("select reason, ageing from leasehold.queues")
    assert tuple(row) == ("why", timedelta(seconds=1))


async def test_senseless_spans_are_refused(database: Database, subtests: pytest.Subtests) -> None:
    for every in [timedelta(0), timedelta(seconds=-5), timedelta(milliseconds=999), timedelta(days=31)]:
        await empty(database)
        with (
            subtests.test(every=every),
            pytest.raises(BadInput, match="jobs gain a priority every 1 second to 30 days"),
        ):
            await database.call("set_ageing", "q", every)
