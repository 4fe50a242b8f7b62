from __future__ import annotations

import asyncio
from typing import cast

import pytest

from leasehold.access.tokens import make_token
from leasehold.client import Client
from leasehold.database import Caller, Database, open_asyncio_database
from leasehold.gateway.access import token_cache
from leasehold.gateway.access.identities import Identity, Scope
from leasehold.gateway.access.token_cache import (
    DEAF_SECONDS,
    HEARING_SECONDS,
    LAST_KNOWN_SECONDS,
    SUSPECT_LOOKUPS_AT_ONCE,
    TokenCache,
    open_tokens,
)
from tests.support.flavours import under_asyncio
from tests.support.waiting import PATIENCE


class FakeDatabase:
    """Counts what it is asked, and answers when it is let."""

    def __init__(self) -> None:
        self.rows: list[dict[str, object]] = []
        self.asked = 0
        self.entered = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def call(self, _function: str, *_args: object) -> list[dict[str, object]]:
        self.asked += 1
        self.entered.set()
        rows = list(self.rows)
        await self.gate.wait()
        return rows

    async def fetch(self, _sql: str, *_args: object) -> list[dict[str, object]]:
        self.asked += 1
        return [{"any": bool(self.rows)}]


class Bundle:
    def __init__(self) -> None:
        self.now = 100.0
        self.database = FakeDatabase()
        self.tokens = TokenCache(cast("Caller", self.database), lambda: self.now)

    def add(self, **fields: object) -> str:
        row: dict[str, object] = {
            "token_id": 1,
            "name": "ci",
            "scopes": ["read"],
            "expires_in": None,
        }
        self.database.rows = [row | fields]
        return make_token()


CI = Identity(name="ci", token_id=1, scopes=frozenset({Scope.READ}))


@under_asyncio
async def test_a_token_is_asked_for_once_and_remembered_for_a_moment() -> None:
    bundle = Bundle()
    bundle.tokens.is_listening = True
    token = bundle.add()
    assert bundle.tokens.recall(token) is None
    assert [await bundle.tokens.find(token) for _ in range(3)] == [CI] * 3
    assert (bundle.database.asked, bundle.tokens.recall(token)) == (1, CI)
    bundle.now += HEARING_SECONDS
    assert bundle.tokens.recall(token) is None
    await bundle.tokens.find(token)
    assert bundle.database.asked == 2


@under_asyncio
async def test_that_there_is_no_such_token_is_remembered_too() -> None:
    bundle = Bundle()
    token = make_token()
    assert [await bundle.tokens.find(token) for _ in range(3)] == [None] * 3
    assert bundle.database.asked == 1


@pytest.mark.parametrize(("hears", "expires_in", "seconds"), [(False, None, DEAF_SECONDS), (True, 4.0, 4.0)])
@under_asyncio
async def test_it_is_forgotten_sooner_where_changes_are_not_heard_or_when_it_expires(
    hears: bool, expires_in: float | None, seconds: float
) -> None:
    bundle = Bundle()
    bundle.tokens.is_listening = hears
    token = bundle.add(expires_in=expires_in)
    await bundle.tokens.find(token)
    bundle.now += seconds * 0.99
    assert bundle.tokens.recall(token) == CI
    bundle.now += seconds * 0.02
    assert bundle.tokens.recall(token) is None


@under_asyncio
async def test_those_who_ask_at_the_same_time_share_one_query_and_one_who_hangs_up_takes_nothing_away() -> None:
    bundle = Bundle()
    token = bundle.add()
    bundle.database.gate.clear()
    asking = [asyncio.create_task(bundle.tokens.find(token)) for _ in range(5)]
    await bundle.database.entered.wait()
    asking[0].cancel()
    bundle.database.gate.set()
    answers = await asyncio.gather(*asking, return_exceptions=True)
    assert isinstance(answers[0], asyncio.CancelledError)
    assert (answers[1:], bundle.database.asked) == ([CI] * 4, 1)


@under_asyncio
async def test_what_was_asked_before_a_change_is_not_remembered_after_it() -> None:
    bundle = Bundle()
    token = bundle.add()
    bundle.database.gate.clear()
    asking = asyncio.create_task(bundle.tokens.find(token))
    await bundle.database.entered.wait()
    bundle.database.rows = []
    bundle.tokens.forget()
    bundle.database.gate.set()
    assert await asking == CI
    assert bundle.tokens.last_known(token) is None
    assert await bundle.tokens.find(token) is None


@under_asyncio
async def test_a_lost_connection_meanwhile_does_not_make_it_unknown() -> None:
    bundle = Bundle()
    token = bundle.add()
    bundle.database.gate.clear()
    asking = asyncio.create_task(bundle.tokens.find(token))
    await bundle.database.entered.wait()
    bundle.tokens.forget(has_changed=False)
    bundle.database.gate.set()
    await asking
    assert (bundle.tokens.recall(token), bundle.tokens.last_known(token)) == (None, CI)


@under_asyncio
async def test_nobody_waits_for_suspects_and_a_token_that_was_good_is_none() -> None:
    bundle = Bundle()
    good, fresh = bundle.add(), make_token()
    assert await bundle.tokens.find(good) == CI
    bundle.now += HEARING_SECONDS
    bundle.database.gate.clear()
    tasks = [asyncio.create_task(bundle.tokens.find(make_token(), is_suspect=True)) for _ in range(20)]
    tasks.append(asyncio.create_task(bundle.tokens.find(good, is_suspect=True)))
    tasks.append(asyncio.create_task(bundle.tokens.find(fresh)))
    for _ in range(100):
        await asyncio.sleep(0)
    assert bundle.database.asked == 1 + SUSPECT_LOOKUPS_AT_ONCE + 2
    bundle.database.gate.set()
    await asyncio.gather(*tasks)


@under_asyncio
async def test_guesses_push_no_good_token_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_cache, "MOST_CACHED", 3)
    bundle = Bundle()
    good = bundle.add()
    await bundle.tokens.find(good)
    bundle.database.rows = []
    for _ in range(5):
        assert await bundle.tokens.find(make_token()) is None
    assert bundle.tokens.recall(good) == CI


@under_asyncio
async def test_who_had_a_token_is_known_for_some_minutes_unless_it_was_changed() -> None:
    bundle = Bundle()
    token, brief = bundle.add(), make_token()
    await bundle.tokens.find(token)
    bundle.add(expires_in=30.0)
    await bundle.tokens.find(brief)
    bundle.tokens.forget(has_changed=False)
    bundle.now += 31
    assert bundle.tokens.recall(token) is None
    assert (bundle.tokens.last_known(token), bundle.tokens.last_known(brief)) == (CI, None)
    bundle.tokens.forget()
    assert bundle.tokens.last_known(token) is None
    bundle.add()
    await bundle.tokens.find(token)
    bundle.now += LAST_KNOWN_SECONDS
    assert bundle.tokens.last_known(token) is None


@under_asyncio
async def test_that_there_are_any_is_remembered_until_something_changes_and_that_there_is_none_is_not() -> None:
    bundle = Bundle()
    assert not await bundle.tokens.has_any()
    bundle.add()
    assert [await bundle.tokens.has_any() for _ in range(3)] == [True] * 3
    assert bundle.database.asked == 2
    bundle.database.rows = []
    bundle.tokens.forget()
    assert not await bundle.tokens.has_any()


@under_asyncio
async def test_a_revoked_token_is_forgotten_when_its_revocation_is_notified(database_url: str) -> None:
    """The clock stands still: nothing is forgotten because of its age."""
    async with open_asyncio_database(database_url) as database, open_tokens(database, lambda: 0.0) as tokens:
        made = await Client(database).tokens.create("ci", ["read"])
        await until(database, lambda: tokens.is_listening)
        # Its own creation is notified too, and may be heard between the two.
        while tokens.recall(made.secret) is None:
            assert await tokens.find(made.secret) is not None
        await Client(database).tokens.revoke(made.token_id)
        await until(database, lambda: tokens.recall(made.secret) is None)
        assert await tokens.find(made.secret) is None


async def until(database: Database, condition: object) -> None:
    """Goes round the database until it is so: a notification comes before the answer to what is asked after it."""
    assert callable(condition)
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await database.fetch("select 1")
