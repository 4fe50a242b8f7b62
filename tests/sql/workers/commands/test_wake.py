from __future__ import annotations

import trio

from leasehold.database import Database
from leasehold.database.border import listen
from tests.support.waiting import PATIENCE


async def test_everybody_or_one_queue_is_woken(database: Database) -> None:
    async with listen(database, "leasehold") as listening:
        await database.call("wake")
        await database.call("wake", "images; drop")
        with trio.fail_after(PATIENCE):
            assert [await listening.payloads.receive() for _ in range(2)] == ["wake", "wake:images; drop"]
