from __future__ import annotations

from leasehold.database import Database


async def test_the_mark_is_the_timeline_and_the_table_of_jobs(database: Database) -> None:
    [row] = await database.fetch(
        "select leasehold.epoch_mark() as mark, 'leasehold.jobs'::regclass::oid::bigint as jobs, "
        "(select timeline_id from pg_control_checkpoint()) as timeline"
    )
    assert row["mark"] == (row["timeline"] << 32) + row["jobs"]


async def test_whoever_does_not_own_the_server_may_read_it(database: Database) -> None:
    async with database.transaction() as session:
        await session.execute("create role nobody_special; grant usage on schema leasehold to nobody_special")
        await session.execute("set local role nobody_special")
        [row] = await session.fetch("select leasehold.epoch_mark() > 0 as mark, leasehold.read_system() > 0 as system")
        await session.execute("reset role; drop owned by nobody_special; drop role nobody_special")
    assert tuple(row) == (True, True)
