from __future__ import annotations

from leasehold.database import Database
from tests.support.epochs import begin_epoch, fail_over

POSITION = "select position from leasehold.find_epoch()"


async def cause(database: Database) -> str:
    [row] = await database.fetch("select cause from leasehold.list_epochs(1)")
    return row["cause"]


async def test_the_first_to_ask_begins_the_first_epoch_and_all_others_find_it(database: Database) -> None:
    epoch = await begin_epoch(database)
    assert await begin_epoch(database) == epoch
    assert await cause(database) == "first"
    assert await database.call_value("enqueue_job", "echo") == 1


async def test_another_timeline_is_another_epoch(database: Database) -> None:
    before = await begin_epoch(database)
    await fail_over(database)
    after = await begin_epoch(database)
    assert after != before
    assert await begin_epoch(database) == after
    rows = await database.call("list_epochs")
    assert [(row["epoch"], row["is_present"]) for row in rows] == [(after, True), (before, False)]


async def test_a_dump_that_is_restored_is_another_epoch(database: Database) -> None:
    before = await begin_epoch(database)
    await database.fetch("update leasehold.epochs set database_oid = database_oid + 1")
    assert await begin_epoch(database) != before
    assert await cause(database) == "database"


async def test_another_server_is_another_epoch(database: Database) -> None:
    before = await begin_epoch(database)
    await database.fetch("update leasehold.epochs set system_identifier = system_identifier + 1")
    assert await begin_epoch(database) != before
    assert await cause(database) == "server"


async def test_a_database_that_stands_before_what_its_caller_has_seen_is_in_another_epoch(database: Database) -> None:
    before = await begin_epoch(database)
    [row] = await database.fetch(POSITION)
    assert await database.call_value("find_epoch", before, row["position"]) == before
    after = await database.call_value("find_epoch", before, row["position"] + 1_000_000_000_000)
    assert after != before
    assert await cause(database) == "rewound"
    [unmoved] = await database.call("find_epoch", before, row["position"] + 1_000_000_000_000)
    assert unmoved["epoch"] == after, "whoever knows only the epoch before has nothing to say of this one"


async def test_an_epoch_that_began_in_a_transaction_that_was_rolled_back_is_written_down_later(
    database: Database,
) -> None:
    await begin_epoch(database)
    assert await database.call_value("enqueue_job", "echo") == 1
    await fail_over(database)
    transaction = await database.begin()
    await transaction.call("enqueue_job", "echo")
    await transaction.roll_back()
    assert len(await database.call("list_epochs")) == 1
    after = await begin_epoch(database)
    rows = await database.call("list_epochs")
    assert rows[0]["epoch"] == after
    assert int(str(await database.call_value("enqueue_job", "echo"))) > 1_000_000_000
