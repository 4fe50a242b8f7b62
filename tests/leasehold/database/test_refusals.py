"""The table of troubles: what is wrong for ever, and what may come right by itself."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

import pytest
import trio

from leasehold.database import open_database, refusals
from leasehold.errors import DatabaseError, DatabaseUnavailable, WrongAddress
from tests.support.servers import Server
from tests.support.waiting import PATIENCE


async def refusal(url: str) -> DatabaseError:
    async with open_database(url) as database:
        with pytest.raises(DatabaseError) as caught:
            await database.fetch("select 1")
    return caught.value


@asynccontextmanager
async def answering(answer: bytes) -> AsyncGenerator[str]:
    """The address of a server that gives this answer to whatever it is told first."""

    async def answer_once(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        if answer:
            await stream.send_all(answer)
            await stream.receive_some()

    async with trio.open_nursery() as nursery:
        [listener] = await nursery.start(partial(trio.serve_tcp, answer_once, 0, host="127.0.0.1"))
        yield f"postgresql://u@127.0.0.1:{listener.socket.getsockname()[1]}/x"
        nursery.cancel_scope.cancel()


async def test_a_parameter_that_postgres_refuses_is_wrong_for_ever_however_it_says_so(database_url: str) -> None:
    for parameter in ("TimeZone=Europe/Nowhere", "statement_timeout=soon", "options=much", "ssl=true", "role=nobody"):
        error = await refusal(f"{database_url}&{parameter}")
        assert isinstance(error, WrongAddress)
        assert "a parameter that is refused" in str(error)


async def test_a_name_that_can_be_no_hosts_is_wrong_for_ever() -> None:
    for host in ("a..b", "x" * 70):
        assert isinstance(await refusal(f"postgresql://u@{host}/x"), WrongAddress)


async def test_a_database_that_takes_nobody_now_may_take_one_later(
    postgres_server: Server, fresh_database_url: str
) -> None:
    name = fresh_database_url.partition("?")[0].rpartition("/")[2]
    async with open_database(postgres_server.dsn()) as others:
        await others.execute(f"create role refused login; revoke connect on database {name} from public")
        try:
            error = await refusal(fresh_database_url.replace("//postgres@", "//refused@"))
            assert isinstance(error, DatabaseUnavailable)
            assert "permission denied for database" in str(error)
            await others.execute(f"alter database {name} allow_connections false")
            error = await refusal(fresh_database_url)
            assert isinstance(error, DatabaseUnavailable)
            assert "not currently accepting connections" in str(error)
        finally:
            await others.execute("drop role refused")


async def test_what_answers_and_is_no_postgres_is_wrong_for_ever_and_what_hangs_up_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(refusals, "LOOK_SECONDS", PATIENCE)
    for answer in (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9.6\r\n", b"-ERR unknown command\r\n"):
        for mode in ("prefer", "require"):
            async with answering(answer) as url:
                error = await refusal(f"{url}?sslmode={mode}")
            assert isinstance(error, WrongAddress)
            assert "is no Postgres" in str(error)
    async with answering(b"220 mail.example.org ESMTP\r\n") as url:  # to asyncpg a message that goes on
        error = await refusal(f"{url}?sslmode=disable&connect_timeout=1")
        assert isinstance(error, WrongAddress)
    for answer in (b"", b"N", b"E\x00\x00\x00\x05\x00"):
        async with answering(answer) as url:
            assert isinstance(await refusal(f"{url}?sslmode=require"), DatabaseUnavailable)
