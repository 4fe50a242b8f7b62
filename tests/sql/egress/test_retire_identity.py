from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import UnknownIdentity
from tests.support.sql_identities import add, give_back, take


async def test_nobody_gets_a_retired_one_and_who_has_it_may_finish(database: Database) -> None:
    await add(database)
    taken = await take(database)
    assert await database.call_value("retire_identity", "one", "was slow") is True
    assert (await take(database))["left_over"] == 0
    assert await give_back(database, taken, "fine") == "retired"
    assert await database.call_value("retire_identity", "one") is False


async def test_an_unknown_one_is_an_error(database: Database) -> None:
    with pytest.raises(UnknownIdentity, match="there is no egress identity 'nobody'"):
        await database.call("retire_identity", "nobody")
