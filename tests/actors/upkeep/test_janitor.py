from __future__ import annotations

from pathlib import Path

import pytest
import trio

from leasehold.actors.supervise import supervise
from leasehold.actors.upkeep import janitor as janitor_module
from leasehold.actors.upkeep.janitor import Janitor
from leasehold.client import Client
from leasehold.database import Database
from leasehold.payloads.options import PayloadOptions
from leasehold.payloads.stores import FolderStore
from tests.support.callers import FragileCaller
from tests.support.sql_schedules import create
from tests.support.sql_waits import freeze, open_transaction
from tests.support.waiting import until

DAYS = "select to_char($1::text::date + d, 'YYYYMMDD') from generate_series(0, 7) d"


async def partitions(database: Database) -> set[str]:
    rows = await database.fetch(
        "select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid"
        " where i.inhparent = 'leasehold.finished_jobs'::regclass"
    )
    return {row[0] for row in rows}


async def test_the_partitions_of_the_days_to_come_are_made_and_old_ones_dropped(
    fresh_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    database = fresh_database
    today = min(await partitions(database)).removeprefix("finished_jobs_")  # the day of its migration
    days = [row[0] for row in await database.fetch(DAYS, today)]
    tomorrow = days[1]
    await database.execute(f"""
        drop table if exists leasehold.finished_jobs_{tomorrow};
        create table leasehold.finished_jobs_20200101 partition of leasehold.finished_jobs
          for values from ('2020-01-01 00:00+00') to ('2020-01-02 00:00+00')
    """)
    async with database.reserve("janitor") as reserved, trio.open_nursery() as nursery:
        await freeze(reserved, f"{today} 12:00Z")
        connection = FragileCaller(reserved)
        janitor = Janitor(connection, keep_days=14)
        nursery.start_soon(supervise, janitor)
        await until(lambda: "drop_old_partitions" in connection.calls)
        janitor.drain()
    assert await partitions(database) == {f"finished_jobs_{day}" for day in [*days, "default"]}
    assert "made 1 partitions, dropped 1" in caplog.text


async def test_a_round_that_lost_the_database_is_made_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(janitor_module, "ROUND_SECONDS", 60.0)
    connection = FragileCaller(database)
    connection.lose_reply = {"drop_old_partitions"}
    janitor = Janitor(connection, keep_days=14)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, janitor)
        await until(lambda: connection.calls.count("drop_old_partitions") == 2)
        janitor.drain()


async def test_the_history_of_schedules_is_forgotten_until_nothing_old_is_left(database: Database) -> None:
    await create(database)
    for _ in range(3):
        await database.call("trigger_schedule", "s")
    await database.fetch(
        "update leasehold.schedule_ticks set fired_at = fired_at - interval '20 days' where id % 2 = 1"
    )
    left = await database.fetch("select count(*) from leasehold.schedule_ticks where id % 2 = 0")
    connection = FragileCaller(database)
    janitor = Janitor(connection, keep_days=14)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, janitor)
        await until(lambda: connection.calls.count("drop_old_ticks") == 2)
        janitor.drain()
    assert await database.fetch("select count(*) from leasehold.schedule_ticks") == left


async def test_a_key_that_somebody_holds_keeps_no_partition_from_being_dropped(fresh_database: Database) -> None:
    database = fresh_database
    await database.execute("""
        create table leasehold.finished_jobs_20200101 partition of leasehold.finished_jobs
          for values from ('2020-01-01 00:00+00') to ('2020-01-02 00:00+00');
        insert into leasehold.unique_jobs values ('k', 1, '2020-01-01');
        insert into leasehold.unique_claims values (1, 'k', false, '2020-01-01')
    """)
    connection = FragileCaller(database)
    janitor = Janitor(connection, keep_days=14)
    async with open_transaction(database, "user") as user:
        await user.fetch("select from leasehold.unique_jobs for update")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(supervise, janitor)
            await until(lambda: "drop_rows_of_old_jobs" in connection.calls)
            janitor.drain()
    assert "finished_jobs_20200101" not in await partitions(database)


async def test_a_drain_ends_it_between_two_batches(database: Database) -> None:
    await database.execute(
        "insert into leasehold.idempotency_keys (idempotency_key, job_id, created_at) "
        "select n::text, n, '2020-01-01' from generate_series(1, 5000) n; "
        "delete from leasehold.id_marks; insert into leasehold.id_marks values (5000, now())"
    )

    connection = FragileCaller(database)
    janitor = Janitor(connection, keep_days=14)
    connection.before = lambda function: janitor.drain() if function == "drop_rows_of_old_jobs" else None
    await janitor.run()
    rows = await database.fetch("select count(*) from leasehold.idempotency_keys")
    assert rows[0][0] == 3000


async def test_old_payloads_are_deleted_with_their_content_and_a_lost_store_is_waited_for(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = FolderStore(tmp_path / "store")
    payloads = Client(database, payloads=PayloadOptions(store)).payloads
    for number in range(3):
        await payloads.save([number], kind="x")
    await database.fetch("update leasehold.payloads set created_at = created_at - interval '40 days' where id < 3")
    (tmp_path / "file").write_text("")
    connection = FragileCaller(database)
    lost = Janitor(connection, 14, FolderStore(tmp_path / "file" / "store"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, lost)
        await until(lambda: "old payloads are deleted in the next round" in caplog.text)
        lost.drain()
    caplog.set_level("INFO")
    janitor = Janitor(connection, 14, store)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, janitor)
        await until(lambda: "deleted 2 payloads" in caplog.text)
        janitor.drain()
    assert [each.id for each in await payloads.list()] == [3]
    assert len(list(store.files())) == 1
