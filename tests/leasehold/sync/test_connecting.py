"""Why a synchronous client has no connection: in the words of the awaited client, and at once where no waiting helps."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast
from urllib.parse import quote, urlsplit

import psycopg
import pytest

from leasehold import open_client
from leasehold.errors import DatabaseUnavailable, LeaseholdError, NoAnswer, WrongAddress
from leasehold.sync.client import SyncClient
from tests.support.waiting import PATIENCE

REFUSED = "postgresql://nobody@127.0.0.1:1/none"


def without_database(url: str) -> str:
    return urlsplit(url)._replace(path="/nowhere").geturl()


def as_awaited(dsn: str) -> LeaseholdError:
    """What the awaited client raises."""

    async def use() -> LeaseholdError:
        async with open_client(dsn) as client:
            with pytest.raises(LeaseholdError) as raised:
                await client.get(1)
            return raised.value

    return asyncio.run(use())


def test_what_no_waiting_mends_is_said_at_once_as_the_awaited_client_says_it(database_url: str) -> None:
    cases: list[tuple[str, type[LeaseholdError], str]] = [
        ("postgresql+psycopg://u:secret@localhost/x", WrongAddress, "scheme is expected"),
        ("localhost", WrongAddress, "scheme is expected"),
        (f"{REFUSED}?sslmode=perhaps", WrongAddress, "sslmode=perhaps: it is one of"),
        (f"{REFUSED}?connect_timeout=soon", WrongAddress, "it is a number of whole seconds"),
        (
            without_database(database_url),
            DatabaseUnavailable,
            'database "nowhere" does not exist; make it with `createdb`',
        ),
        (database_url.replace("postgres@", "nobody@"), DatabaseUnavailable, 'role "nobody" does not exist; look at'),
        (f"{database_url}&tcp_keepalives_idle=x", WrongAddress, "has a parameter that is refused"),
    ]
    for dsn, error, words in cases:
        with SyncClient(dsn, timeout=PATIENCE * 10) as client, pytest.raises(error, match=words) as raised:
            client.get(1)
        assert (type(raised.value), str(raised.value)) == (type(as_awaited(dsn)), str(as_awaited(dsn)))


def test_an_address_that_libpq_alone_cannot_read_is_refused_without_its_password() -> None:
    for dsn, words in (
        (f"{REFUSED}?pgbouncer=true", 'libpq cannot read it: invalid URI query parameter: "pgbouncer"'),
        ("postgresql://u:se%zzcret@127.0.0.1:1/x", "libpq cannot read it$"),
    ):
        with SyncClient(dsn, timeout=PATIENCE * 10) as client, pytest.raises(WrongAddress, match=words):
            client.get(1)


def test_what_may_heal_is_waited_for_and_then_said_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    for dsn in (REFUSED, "host=127.0.0.1 port=1 user=nobody password=secret"):
        with SyncClient(dsn, timeout=3) as client:
            with pytest.raises(DatabaseUnavailable, match=r"cannot be reached: .*Connect call failed"):
                client.get(1)
            with pytest.raises(DatabaseUnavailable, match=r"cannot be reached: .*Connect call failed"):
                client.wait(1)
    assert "secret" not in caplog.text


def test_a_server_that_says_nothing_is_said_to_say_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://u@127.0.0.1:{silent.getsockname()[1]}/x"
        with SyncClient(address, timeout=2) as client, pytest.raises(NoAnswer, match="did not answer in time"):
            client.get(1)


def test_a_database_that_is_made_meanwhile_is_found_by_the_next_call(database_url: str) -> None:
    name = f"{urlsplit(database_url).path[1:]}_later"
    dsn = urlsplit(database_url)._replace(path=f"/{name}").geturl()
    with SyncClient(dsn, timeout=PATIENCE * 10) as client, psycopg.connect(database_url, autocommit=True) as admin:
        for _ in range(2):
            with pytest.raises(DatabaseUnavailable, match="does not exist"):
                client.get(1)
        admin.execute(cast("Any", f'create database "{name}"'))
        try:
            with client.transaction() as connection:
                assert connection.execute("select current_database()").fetchone() == (name,)
        finally:
            client.close()
            admin.execute(cast("Any", f'drop database "{name}" with (force)'))


def test_all_threads_get_the_reason_at_once(database_url: str) -> None:
    def ask(client: SyncClient) -> str:
        with pytest.raises(DatabaseUnavailable) as raised:
            client.get(1)
        return str(raised.value)

    with SyncClient(without_database(database_url), timeout=PATIENCE * 10) as client, ThreadPoolExecutor(8) as threads:
        said = list(threads.map(ask, [client] * 16, timeout=PATIENCE))
    assert all("does not exist" in each for each in said)


def test_an_exhausted_pool_is_not_said_to_be_a_server_that_is_away(database_url: str) -> None:
    all_are_in_use = pytest.raises(DatabaseUnavailable, match="couldn't get a connection")
    with SyncClient(database_url, pool_size=1, timeout=0.1) as client, client.transaction(), all_are_in_use:
        client.get(1)


def test_an_address_may_limit_each_statement(database_url: str) -> None:
    limited = f"{database_url}&options=-c%20statement_timeout%3D50ms"
    with psycopg.connect(database_url) as other, SyncClient(limited) as client:
        other.execute("lock table leasehold.jobs")
        with pytest.raises(DatabaseUnavailable, match="statement timeout"):
            client.get(1)


def test_the_reason_is_found_where_an_event_loop_runs() -> None:
    async def use() -> None:
        with SyncClient("localhost") as client, pytest.raises(WrongAddress):
            client.get(1)

    asyncio.run(use())


def test_a_wait_says_why_its_direct_connection_is_not_made(database_url: str) -> None:
    for direct, error in ((without_database(database_url), DatabaseUnavailable), ("localhost", WrongAddress)):
        with SyncClient(database_url, direct_dsn=direct) as client:
            job_id = client.enqueue("echo")
            with pytest.raises(error, match=r"does not exist; make it|scheme is expected"):
                client.wait(job_id, timeout=PATIENCE)


def test_words_of_libpq_are_an_address_as_well(database_url: str) -> None:
    parts = urlsplit(database_url)
    assert quote(parts.query, safe="=/-") == parts.query
    with SyncClient(f"user={parts.username} dbname={parts.path[1:]} {parts.query}") as client:
        assert client.get(client.enqueue("echo")).kind == "echo"
