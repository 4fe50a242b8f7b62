from __future__ import annotations

import pytest

from leasehold.database import Database
from tests.sql.explain.test_measure_rate import finish
from tests.support.sql_waits import freeze


async def test_one_look_tells_of_all_kinds_that_finish_and_of_no_other(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await freeze(connection, "2026-03-01 12:00Z")
        for count, kind, seconds_apart in [(11, "fast", 0.5), (5, "slow", 10.0), (1, "once", 1.0)]:
            await finish(connection, count, kind, seconds_apart)
        rows = await connection.call("measure_rates")
        assert [(row["queue"], row["kind"]) for row in rows] == [("q", "fast"), ("q", "slow")]
        assert [row["per_second"] for row in rows] == pytest.approx([2.0, 0.1])
        assert [row["kind"] for row in await connection.call("measure_rates", only_kind="slow")] == ["slow"]
        assert await connection.call("measure_rates", "other") == []
