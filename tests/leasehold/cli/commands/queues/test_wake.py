from __future__ import annotations

from collections.abc import Callable
from contextvars import Context

import trio

from leasehold.database import Database
from leasehold.database.border import listen
from tests.leasehold.cli.conftest import Cli, Transcript
from tests.support.waiting import PATIENCE


async def elsewhere(work: Callable[[], Transcript]) -> Transcript:
    """Run in a thread with an event loop of its own; an empty context hides the loop of this test from it."""
    return await trio.to_thread.run_sync(Context().run, work)


async def test_waking_sends_the_notification_that_psql_would_send(cli: Cli, database: Database) -> None:
    async with listen(database, "leasehold") as listening:
        everybody = await elsewhere(lambda: cli("wake", "--output", "text"))
        some = await elsewhere(lambda: cli("wake", "crawl", "--output", "text"))
        with trio.fail_after(PATIENCE):
            assert [await listening.payloads.receive() for _ in range(2)] == ["wake", "wake:crawl"]
    assert (everybody.out, some.out) == ("woke all workers\n", "woke the workers of queue crawl\n")
