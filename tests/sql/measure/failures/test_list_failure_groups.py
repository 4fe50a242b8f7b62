from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from leasehold.database import Database, ReservedConnection
from leasehold.errors import BadInput
from tests.support.sql_jobs import enqueue, pile_up
from tests.support.sql_waits import freeze, frozen
from tests.support.sql_work import measured
from tests.support.sql_worker import SqlWorker

NOON = datetime.fromisoformat("2030-01-01T12:00:00+00:00")
PLACE = {"type": "ValueError", "message": "boom", "place": "shop.py:7 in pay"}


async def fail(connection: ReservedConnection, kind: str, *errors: dict[str, str], is_final: bool = True) -> list[int]:
    """A job of the kind for each error, failed with it."""
    worker, ids = SqlWorker(connection), [await enqueue(connection, kind) for _ in errors]
    for error in errors:
        job = await worker.claim(1, kinds=[kind])
        await worker.fail(job, error, discard=[is_final], retry_in=[3600.0])
    return ids


async def test_failures_are_grouped_by_kind_error_and_place(database: Database) -> None:
    async with frozen(database, "2030-01-01 11:00Z") as connection:
        await fail(connection, "pay", PLACE, PLACE | {"message": "bang", "place": "shop.py:8 in pay"})
        await freeze(connection, "2030-01-01 11:30Z")
        (last,) = await fail(connection, "pay", PLACE | {"message": "last"}, is_final=False)
        await fail(connection, "mail", PLACE)
        await fail(connection, "pay", {"type": "KeyError", "message": "7"})
        await freeze(connection, "2030-01-01 12:00Z")
        rows = await connection.call("list_failure_groups", NOON - timedelta(hours=24))
        groups = {(row["kind"], row["error_type"], row["place"]): row for row in rows}
        assert set(groups) == {
            ("pay", "ValueError", "shop.py:7 in pay"),
            ("mail", "ValueError", "shop.py:7 in pay"),
            ("pay", "KeyError", None),
        }
        group = groups["pay", "ValueError", "shop.py:7 in pay"]
        assert (group["failures"], group["failed_jobs"], group["last_job_id"], group["last_message"]) == (
            3,
            2,
            last,
            "last",
        )
        assert (group["first_at"], group["last_at"]) == (NOON.replace(hour=11), NOON.replace(hour=11, minute=30))
        assert group["counts"] == [0] * 23 + [3]
        assert (group["queues"], group["versions"], group["is_partial"]) == (["default"], [], False)


async def test_each_part_of_the_time_has_its_count(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        for hour in (1, 1, 5, 23):
            await freeze(connection, f"2030-01-01 {hour:02}:15Z")
            await fail(connection, "pay", PLACE)
        since = NOON.replace(hour=0)
        (row,) = await connection.call("list_failure_groups", since, since + timedelta(days=1))
        assert row["counts"] == [0, 2, 0, 0, 0, 1] + [0] * 17 + [1]


async def test_the_last_sixth_of_the_time_says_which_way_a_group_goes(database: Database) -> None:
    trends = {(2, 0): "quiet", (0, 1): "new", (1, 2): "steady", (5, 3): "rising", (6, 3): "steady"}
    async with database.reserve("clocked") as connection:
        for place, hour in enumerate((7, 8)):
            await freeze(connection, f"2030-01-01 {hour:02}:59Z")
            for failures in trends:
                await fail(connection, f"pay {failures}", *[PLACE] * failures[place])
        rows = await connection.call("list_failure_groups", NOON - timedelta(hours=24), NOON)
        assert {row["kind"]: row["trend"] for row in rows} == {f"pay {each}": trend for each, trend in trends.items()}


async def test_the_versions_of_the_app_are_named(database: Database) -> None:
    async with frozen(database, "2030-01-01 11:00Z") as connection:
        for name, version in (("w1", "2.0"), ("w2", "1.9"), ("w3", None)):
            worker = SqlWorker(connection, name)
            await worker.register()
            await connection.fetch("update leasehold.workers set app_version = $2 where worker_id = $1", name, version)
            await enqueue(connection, "pay")
            await worker.fail(await worker.claim(1), PLACE, discard=[True])
        await freeze(connection, "2030-01-01 12:00Z")
        (row,) = await connection.call("list_failure_groups")
        assert row["versions"] == ["1.9", "2.0"]


async def test_groups_can_be_narrowed_down(database: Database) -> None:
    async with frozen(database, "2030-01-01 11:00Z") as connection:
        await fail(connection, "pay", PLACE)
        await freeze(connection, "2030-01-01 11:30Z")
        await fail(connection, "mail", PLACE)
        await freeze(connection, "2030-01-01 12:00Z")
        (row,) = await connection.call("list_failure_groups", only_kind="mail")
        assert row["kind"] == "mail"
        (same,) = await connection.call("list_failure_groups", only_fingerprint=row["fingerprint"])
        assert dict(same) == dict(row)
        assert await connection.call("list_failure_groups", only_queue="other") == []
        assert [each["kind"] for each in await connection.call("list_failure_groups", max_groups=1)] == ["mail"]


async def test_what_cannot_be_asked_is_refused(database: Database) -> None:
    with pytest.raises(BadInput, match="until must be after since"):
        await database.call("list_failure_groups", NOON, NOON)
    for name in ("max_groups", "max_rows"):
        with pytest.raises(BadInput, match="max_groups must be from"):
            await database.call("list_failure_groups", **{name: 0})


async def test_it_reads_no_more_than_it_is_told_whatever_the_tables_hold(fresh_database: Database) -> None:
    """Thousands of completed jobs and hundreds of failed ones do not make it read more."""
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, "2030-01-01 11:00Z")
        worker = SqlWorker(connection)
        await pile_up(connection, 3000)
        await worker.complete(await worker.claim(3000))
        await pile_up(connection, 500)
        await worker.fail(await worker.claim(500), discard=[True] * 500)
        await freeze(connection, "2030-01-01 12:00Z")
        for _ in range(6):
            await connection.call("list_failure_groups", max_rows=50)
        await connection.execute("begin")
        async with measured(connection) as work:
            (row,) = await connection.call("list_failure_groups", max_rows=50)
        await connection.execute("commit")
        assert (row["failures"], row["is_partial"], row["trend"]) == (50, True, None)
        assert work.pages - work.planning < 400
