from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_schedules import NOON, create, create_at, set_plan
from tests.support.sql_waits import freeze


async def test_they_are_those_to_plan_and_those_whose_tick_has_come(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await create_at(connection, NOON, "new")
        for name, at in (
            ("due", NOON),
            ("later", "2030-01-01 12:00:01Z"),
            ("long due", "2030-01-01 11:00Z"),
            ("never", None),
        ):
            await set_plan(connection, await create(connection, name), at)
        await set_plan(connection, await create(connection, "off", enabled=False), NOON)
        rows = await connection.call("list_due_schedules")
        assert [(row["name"], row["is_planned"]) for row in rows] == [("new", False), ("long due", True), ("due", True)]
        assert {row["now"].isoformat() for row in rows} == {"2030-01-01T12:00:00+00:00"}
        assert [row["name"] for row in await connection.call("list_due_schedules", 2)] == ["new", "long due"]
        await freeze(connection, "2030-01-01 12:00:01Z")
        assert "later" in [row["name"] for row in await connection.call("list_due_schedules")]
