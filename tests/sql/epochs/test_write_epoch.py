from __future__ import annotations

from leasehold.database import Database
from tests.support.epochs import begin_epoch


async def test_an_epoch_is_written_down_once(database: Database) -> None:
    epoch = await begin_epoch(database)
    await database.call("write_epoch", 5, 7)
    rows = await database.call("list_epochs")
    assert [(row["epoch"], row["ids_after"]) for row in rows] == [(epoch, None)]
