"""Waiting for chains, without awaiting."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from leasehold import App
from leasehold.errors import BadInput, ChainCancelled, ChainFailed, UnknownJob, WaitTimeout
from leasehold.sync import chains as waits
from leasehold.sync.client import SyncClient
from tests.support.waiting import PATIENCE, eventually

app = App()
LISTENS = "select count(*) from pg_stat_activity where datname = current_database() and application_name = 'leasehold listener'"


@app.kind()
async def count(word: str) -> int:
    return len(word)


@contextmanager
def waiting(call: Callable[[], Any]) -> Generator[Future[Any]]:
    """A call in a thread."""
    with ThreadPoolExecutor(1) as thread:
        yield thread.submit(call)


def looked_at_twice(monkeypatch: pytest.MonkeyPatch, then: Callable[[], object]) -> None:
    """Have `then` called when a wait has looked for the second time, and nothing be looked at before something is heard."""
    original = waits._listening  # pyright: ignore[reportPrivateUsage]

    @contextmanager
    def ear(dsn: str, chain_id: int) -> Generator[Callable[[float], object]]:
        with original(dsn, chain_id) as pause:

            def paused(_seconds: float) -> None:
                then()
                pause(60.0)

            yield paused

    monkeypatch.setattr(waits, "_listening", ear)


def test_the_output_of_a_chain_that_has_ended_is_typed(client: SyncClient) -> None:
    chain = client.enqueue(count.new("word"))
    client.chains.complete(chain, 4)
    assert client.wait(chain) == client.wait(chain, kind=count) == 4
    assert client.chains.wait(chain).state == "completed"
    other = client.enqueue(count.new("word"))
    client.chains.complete(other, "four")
    with pytest.raises(BadInput, match="promises"):
        client.wait(other, kind=count)


def test_a_wait_hears_of_the_end_of_the_chain(client: SyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = client.enqueue(count.new("word"))
    looked_at_twice(monkeypatch, lambda: client.chains.complete(chain, 4))
    assert client.wait(chain, timeout=PATIENCE) == 4


def test_notices_about_other_chains_end_no_pause(client: SyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    chain, other = client.enqueue(count.new("word")), client.enqueue(count.new("other"))
    calls: list[int] = []

    def both() -> None:
        calls.append(1)
        with client.transaction() as connection:
            connection.execute("select pg_notify('leasehold', %s)", (f"closed:{other}",))
            connection.execute("notify leasehold, 'what is that?'")
        client.chains.complete(chain, 4)

    looked_at_twice(monkeypatch, both)
    assert client.wait(chain, timeout=PATIENCE) == 4
    assert calls == [1]


def test_a_wait_that_does_not_listen_looks_again(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with SyncClient(database_url, listens=False) as client, psycopg.connect(database_url) as eye:
        chain = client.enqueue(count.new("word"))
        with waiting(lambda: client.wait(chain, timeout=PATIENCE)) as waited:
            row = eye.execute(LISTENS).fetchone()
            client.chains.complete(chain, 4)
            assert waited.result(timeout=PATIENCE) == 4
        assert row == (0,)


def test_the_time_is_up_for_the_wait_and_not_for_the_chain(client: SyncClient) -> None:
    chain = client.enqueue(count.new("word"))
    for timeout in (0, 0.01):
        with pytest.raises(WaitTimeout, match=f"chain {chain} is still open"):
            client.wait(chain, timeout=timeout)
    assert client.get(chain).state == "pending"
    with pytest.raises(BadInput):
        client.wait(chain, timeout=-1)


def test_a_chain_without_an_output_says_how_it_ended(client: SyncClient) -> None:
    chain = client.enqueue(count.new("word"))
    client.chains.cancel(chain, "no need")
    with pytest.raises(ChainCancelled, match="no need") as raised:
        client.wait(chain)
    assert raised.value.chain is not None
    late = client.enqueue(count.new("word"), deadline=0.001)
    client.chains.delete(late)
    with pytest.raises(UnknownJob):
        client.wait(late)
    assert not issubclass(ChainCancelled, ChainFailed)


async def test_a_wait_leaves_no_connection_behind(client: SyncClient, database_url: str) -> None:
    chain = client.enqueue(count.new("word"))
    with pytest.raises(WaitTimeout):
        client.wait(chain, timeout=0.01)
    with psycopg.connect(database_url, autocommit=True) as eye:

        async def is_alone() -> bool:
            return eye.execute(LISTENS).fetchone() == (0,)

        await eventually(is_alone)  # Postgres takes a moment to end a session


def test_what_is_no_kind_and_no_length_of_time_is_refused_before_the_wait(client: SyncClient) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"kind": "greet"}, "kind must be a kind, as @app.kind makes it of a function, not 'greet'"),
        ({"timeout": -1}, "timeout must be 0 or more seconds or a timedelta, not -1"),
    ]
    for options, complaint in wrong:
        with pytest.raises(BadInput, match=complaint):
            client.wait(1, **options)
