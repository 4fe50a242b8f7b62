from __future__ import annotations

from leasehold.database import Database
from tests.support.epochs import begin_epoch, fail_over


async def test_the_present_epoch_comes_first(database: Database) -> None:
    epochs = [await begin_epoch(database)]
    for _ in range(2):
        await fail_over(database)
        epochs.append(await begin_epoch(database))
    rows = await database.call("list_epochs", 2)
    assert [(row["epoch"], row["is_present"]) for row in rows] == [(epochs[2], True), (epochs[1], False)]
