"""Bytes that are no text: a database in SQL_ASCII takes them from psql."""

from __future__ import annotations

from collections.abc import Callable, Generator

import pytest
import trio

from leasehold import App
from leasehold.database.migrations import emit, migrate
from leasehold.errors import WrongAddress
from tests.support.processes import StartProcess
from tests.support.servers import Server, psql_on
from tests.support.waiting import eventually
from tests.support.working import working

OTHERS = "<> 'UTF8' then"


@pytest.fixture
def ascii_database_url(postgres_server: Server, testrun_uid: str, worker_id: str) -> Generator[str]:
    """The connection string of an empty database in SQL_ASCII."""
    name = f"leasehold_{testrun_uid[:8]}_{worker_id}_ascii"
    admin = postgres_server.dsn()
    options = "encoding 'SQL_ASCII' template template0 lc_collate 'C' lc_ctype 'C'"
    psql_on(postgres_server.psql, admin, f'create database "{name}" {options}')
    yield postgres_server.dsn(name)
    psql_on(postgres_server.psql, admin, f'drop database "{name}" with (force)')


async def test_migrate_refuses_a_database_that_is_not_in_utf8(
    ascii_database_url: str, psql: Callable[[str, str], str]
) -> None:
    with pytest.raises(WrongAddress, match=r"the encoding SQL_ASCII.*createdb --encoding UTF8"):
        await migrate(ascii_database_url)
    assert psql(ascii_database_url, "select to_regnamespace('leasehold') is null") == "t"


@pytest.mark.acceptance
async def test_no_process_waits_for_a_schema_that_migrate_would_refuse(
    ascii_database_url: str, start_process: StartProcess
) -> None:
    for actor in ("worker", "gateway"):
        env = {"LEASEHOLD_DATABASE_URL": ascii_database_url, "LEASEHOLD_GATEWAY_PORT": "0"}
        process = start_process(["run", actor] if actor == "worker" else [actor], env)
        assert await process.until_exit() == 5, actor
        assert "createdb --encoding UTF8" in process.output


async def test_a_job_whose_bytes_are_no_text_fails_alone(ascii_database_url: str, postgres_server: Server) -> None:
    """In a database that was migrated by hand."""
    script = emit()
    assert OTHERS in script
    enqueue = "select leasehold.enqueue_job('greet', args => '{\"name\": \"%s\"}');\n"
    calls = b"".join(enqueue.encode() % name for name in (b"Ada", b"caf\xe9", "café".encode(), b"\xff\xfe", b"Zoe"))
    psql = [postgres_server.psql, "-q", "-v", "ON_ERROR_STOP=1", ascii_database_url]
    await trio.run_process(psql, stdin=script.replace(OTHERS, "= '' then").encode() + calls, capture_stdout=True)
    app, greeted = App(), list[str]()

    @app.kind()
    async def greet(name: str) -> None:  # pyright: ignore[reportUnusedFunction]
        greeted.append(name)

    async with working(ascii_database_url, app) as running:

        async def all_ended() -> bool:
            rows = await running.database.fetch("select count(*) from leasehold.finished_jobs")
            return rows[0][0] == 5

        await eventually(all_ended)
        states = [(await running.client.get(job_id)).state for job_id in range(1, 6)]
        assert states == ["completed", "failed", "completed", "failed", "completed"]
        failed = await running.client.get(2)
        assert failed.args == {"unreadable": "eyJuYW1lIjogImNhZukifQ=="}
        assert failed.error["type"] == "Unreadable"
    assert sorted(greeted) == ["Ada", "Zoe", "café"]
