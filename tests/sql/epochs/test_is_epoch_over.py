from __future__ import annotations

from leasehold.database import Database
from tests.support.epochs import begin_epoch, fail_over


async def test_an_epoch_is_over_with_the_timeline_and_not_before(database: Database) -> None:
    assert await database.call_value("is_epoch_over", None) is True
    epoch = await begin_epoch(database)
    assert await database.call_value("is_epoch_over", None) is False
    assert await database.call_value("is_epoch_over", epoch) is False
    assert await database.call_value("is_epoch_over", epoch + 1) is True
    await fail_over(database)
    assert await database.call_value("is_epoch_over", None) is True
    assert await database.call_value("is_epoch_over", epoch) is True


async def test_where_postgres_does_not_tell_its_timeline_an_epoch_lasts(database: Database) -> None:
    epoch = await begin_epoch(database)
    await database.fetch("select setval('leasehold.epochs_mark_seq', 1)")
    assert await database.call_value("is_epoch_over", epoch) is False
    assert await begin_epoch(database) == epoch
