from __future__ import annotations

import pytest

from leasehold.database import Database, open_database
from leasehold.errors import WrongState
from tests.support.sources.seeds import CLAIM


async def test_a_sealed_source_gives_its_workers_nothing_until_it_is_opened(tasks: Database) -> None:
    await tasks.execute(
        "insert into worker_tasks (role, status) values ('store_discovery', 'pending'), ('store_discovery', 'running')"
    )
    assert await tasks.call_value("seal_source") is True
    assert await tasks.call_value("seal_source") is False
    assert await tasks.fetch(CLAIM, "old") == []
    await tasks.execute("update worker_tasks set status = 'completed' where status = 'running'")
    assert await tasks.call_value("seal_source", None, False) is True
    assert [row["id"] for row in await tasks.fetch(CLAIM, "old")] == [1]


async def test_sealing_gives_up_on_a_transaction_that_does_not_end(tasks: Database, database_url: str) -> None:
    await tasks.execute("insert into worker_tasks (role) values ('store_discovery')")
    async with open_database(database_url) as other, other.transaction() as transaction:
        await transaction.fetch(CLAIM, "old")
        with pytest.raises(WrongState, match=r"a transaction on public\.worker_tasks does not end"):
            await tasks.call("seal_source")
    assert await tasks.call_value("seal_source") is True


async def test_who_may_make_a_trigger_but_does_not_own_the_table_opens_it_again(tasks: Database) -> None:
    """Postgres lets only the owner drop a trigger."""
    await tasks.execute("insert into worker_tasks (role, status) values ('store_discovery', 'pending')")
    async with tasks.reserve("mover") as owned:
        await owned.execute("create role lh_movers")
        await owned.execute("grant lh_movers to current_user")
        await owned.execute("grant usage on schema public to lh_movers")
        await owned.execute("grant select, update, trigger on worker_tasks to lh_movers")
        await owned.execute("grant all on schema leasehold to lh_movers")
        await owned.execute("grant all on all tables in schema leasehold to lh_movers")
        await owned.execute("set role lh_movers")
        try:
            for _ in range(2):
                assert await owned.call_value("seal_source") is True
                assert await owned.fetch(CLAIM, "old") == []
                assert await owned.call_value("seal_source", None, False) is True
            assert [row["id"] for row in await owned.fetch(CLAIM, "old")] == [1]
        finally:
            await owned.execute("reset role")
            await owned.execute("drop owned by lh_movers")
            await owned.execute("drop role lh_movers")
