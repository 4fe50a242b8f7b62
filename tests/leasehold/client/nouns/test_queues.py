from __future__ import annotations

from typing import Any

import pytest

from leasehold import Client, LimitRecord
from leasehold.database import Database
from leasehold.errors import BadInput
from tests.leasehold.client.conftest import with_client


@with_client()
async def test_limits_are_set_listed_and_dropped(client: Client) -> None:
    assert await client.queues.set_limit("crawl", max_running=5, rate=2)
    assert not await client.queues.set_limit("crawl", max_running=5, rate=2.0, burst=2)
    assert await client.queues.set_limit("crawl", "*", max_running=1)
    await client.enqueue("fetch", queue="crawl", key_group="tenant 7")
    whole, each = await client.queues.limits("crawl")
    assert whole == LimitRecord(
        queue="crawl", key_group="", max_running=5, rate=2.0, burst=2, running=0, tokens=2.0, next_token_in=0.0
    )
    assert (each.key_group, each.max_running, each.rate, each.tokens) == ("*", 1, None, None)
    assert await client.queues.limits("mail") == []
    assert await client.queues.drop_limit("crawl", "*")
    assert not await client.queues.drop_limit("crawl", "*")
    assert len(await client.queues.limits()) == 1


@with_client()
async def test_what_is_no_limit_is_refused(client: Client) -> None:
    with pytest.raises(BadInput, match="a limit needs max_running, a rate, or both"):
        await client.queues.set_limit("crawl")


@with_client()
async def test_a_limit_of_another_type_is_named(client: Client) -> None:
    cases: list[dict[str, Any]] = [
        {"max_running": "3"},
        {"rate": "3"},
        {"rate": 1, "burst": 2.5},
        {"max_running": True},
    ]
    for wrong in cases:
        with pytest.raises(BadInput, match=rf"{list(wrong)[-1]} must be an? (integer|number)") as caught:
            await client.queues.set_limit("mail", **wrong)
        assert type(caught.value) is BadInput


async def test_queues_are_listed_with_what_is_known_of_them(database: Database) -> None:
    client = Client(database)
    await client.enqueue("pay", queue="busy")
    await client.queues.pause("still", "for a while")
    busy, still = await client.queues.list()
    assert (busy.queue, busy.counts, busy.paused_at) == ("busy", {"pending": 1}, None)
    assert (still.queue, still.counts, still.pause_reason) == ("still", {}, "for a while")
