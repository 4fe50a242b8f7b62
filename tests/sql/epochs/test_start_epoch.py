from __future__ import annotations

import trio

from leasehold.database import Database
from tests.support.epochs import begin_epoch, fail_over


async def test_ids_go_on_far_behind_those_that_may_have_been_lost(database: Database) -> None:
    await begin_epoch(database)
    assert [await database.call_value("enqueue_job", "echo") for _ in range(2)] == [1, 2]
    await fail_over(database)
    assert await database.call_value("enqueue_job", "echo") == 1_000_000_003
    [row] = await database.fetch("select ids_after, ids_until from leasehold.list_epochs(1)")
    assert tuple(row) == (2, 1_000_000_002)


async def test_an_id_that_is_there_counts_where_the_sequence_was_not_copied(database: Database) -> None:
    await begin_epoch(database)
    await database.call("enqueue_job", "echo")
    await database.fetch("update leasehold.jobs set id = 700")
    await database.fetch("select setval('leasehold.jobs_id_seq', 1, false)")
    await fail_over(database)
    assert await database.call_value("enqueue_job", "echo") == 1_000_000_701


async def test_the_end_of_all_numbers_is_not_passed(database: Database) -> None:
    await begin_epoch(database)
    await database.fetch("select setval('leasehold.jobs_id_seq', 9223372036854775800)")
    await fail_over(database)
    assert await database.call_value("enqueue_job", "echo") == 9223372036854775804


async def test_one_epoch_begins_however_many_notice(database: Database) -> None:
    before = await begin_epoch(database)
    await fail_over(database)
    found: set[int] = set()

    async def look() -> None:
        found.add(await begin_epoch(database))

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(look)
    assert len(found) == 1
    assert before not in found
    assert len(await database.call("list_epochs")) == 2


async def test_a_producer_whose_transaction_stays_open_holds_up_nobody(database: Database) -> None:
    await begin_epoch(database)
    await fail_over(database)
    async with database.transaction() as slow:
        first = int(str(await slow.call_value("enqueue_job", "echo")))
        assert await database.call_value("enqueue_job", "echo") == first + 1
        assert await database.call_value("find_epoch") is not None


async def test_nobody_begins_another_one_who_has_read_the_number_of_one_that_was_just_beginning(
    database: Database,
) -> None:
    epoch = await begin_epoch(database)
    await database.call("start_epoch", epoch)
    assert await database.call_value("find_epoch") == epoch
