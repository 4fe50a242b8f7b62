from __future__ import annotations

import asyncio

import pytest

from leasehold.gateway.routing.sharing import Shared
from tests.gateway.fakes.running import running_service
from tests.support.flavours import under_asyncio


class Answers:
    """Makes `1`, `2`, … one after the other, each a turn of the loop later."""

    def __init__(self) -> None:
        self.made = 0

    async def make(self) -> bytes:
        self.made += 1
        number = self.made
        await asyncio.sleep(0)
        return str(number).encode()


@under_asyncio
async def test_all_who_ask_within_a_moment_get_the_same() -> None:
    now = 0.0
    shared, answers = Shared(lambda: now), Answers()
    found = await asyncio.gather(*(shared.get("a", 2.0, answers.make) for _ in range(50)))
    assert set(found) == {b"1"}
    now = 1.9
    assert await shared.get("a", 2.0, answers.make) == b"1"
    assert await shared.get("b", 2.0, answers.make) == b"2"
    now = 2.0
    assert await shared.get("a", 2.0, answers.make) == b"3"


@under_asyncio
async def test_a_slow_answer_is_as_old_as_its_end() -> None:
    now, answers = 0.0, Answers()
    shared = Shared(lambda: now)

    async def make() -> bytes:
        nonlocal now
        answer = await answers.make()
        now += 20.0
        return answer

    assert set(await asyncio.gather(*(shared.get("a", 2.0, make) for _ in range(3)))) == {b"1"}
    now = 21.9
    assert await shared.get("a", 2.0, make) == b"1"
    now = 22.0
    assert await shared.get("a", 2.0, make) == b"2"


@under_asyncio
async def test_what_was_begun_before_a_change_is_not_given_after_it() -> None:
    shared, answers = Shared(lambda: 0.0), Answers()
    early = asyncio.create_task(shared.get("a", 2.0, answers.make))
    await asyncio.sleep(0)
    shared.changed()
    assert (await early, await shared.get("a", 2.0, answers.make)) == (b"1", b"2")


@under_asyncio
async def test_an_error_is_not_kept() -> None:
    async def fail() -> bytes:
        raise RuntimeError

    shared, answers = Shared(lambda: 0.0), Answers()
    with pytest.raises(RuntimeError):
        await shared.get("a", 2.0, fail)
    assert await shared.get("a", 2.0, answers.make) == b"1"


def test_whoever_changes_something_sees_it_in_the_overview(database_url: str) -> None:
    with running_service(database_url) as gateway:
        assert gateway.call("GET", "/api/overview").body["queues"] == []
        gateway.call("POST", "/api/jobs", {"kind": "a", "queue": "q"})
        assert [each["queue"] for each in gateway.call("GET", "/api/overview").body["queues"]] == ["q"]
