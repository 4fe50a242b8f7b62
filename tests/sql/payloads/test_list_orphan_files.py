from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_payloads import add


async def orphans(database: Database, *locations: str) -> list[str]:
    return [row[0] for row in await database.call("list_orphan_files", [*locations])]


async def test_a_file_that_no_row_names_is_an_orphan(database: Database) -> None:
    await add(database, location="a/1")
    assert await orphans(database, "a/1", "a/2") == ["a/2"]


async def test_a_file_that_an_open_transaction_is_about_to_name_is_none(database: Database) -> None:
    async with database.transaction() as transaction:
        await add(transaction, location="a/1")
        assert await orphans(database, "a/1") == []
    assert await orphans(database, "a/1") == []


async def test_a_file_whose_transaction_was_rolled_back_is_one(database: Database) -> None:
    transaction = await database.begin()
    await add(transaction, location="a/1")
    await transaction.roll_back()
    assert await orphans(database, "a/1") == ["a/1"]


async def test_a_hidden_payload_still_names_its_file(database: Database) -> None:
    await database.call("expire_payloads", [await add(database, location="a/1")])
    assert await orphans(database, "a/1") == []
