"""Processes that are started while the database cannot be reached."""

from __future__ import annotations

import re
import signal
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest
import trio

from leasehold.client import Client
from leasehold.database import open_database
from leasehold.database.migrations import migrate
from tests.support.processes import LeaseholdProcess, StartProcess
from tests.support.servers import OwnServer
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.acceptance


def status(process: LeaseholdProcess, path: str) -> int:
    found = re.search(r"(http://127\.0\.0\.1:\d+)", process.output)
    if found is None:
        return 0
    try:
        with urllib.request.urlopen(found[1] + path, timeout=PATIENCE) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def refusal(url: str) -> str:
    """What is said with a status of 503."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(url, timeout=PATIENCE)
    assert refused.value.code == 503
    return refused.value.read().decode()


@pytest.mark.parametrize("actors", [["worker"], ["scheduler", "reaper"]])
async def test_actors_wait_for_the_database_and_begin_when_it_is_there(
    durable_server: OwnServer, durable_database_url: str, start_process: StartProcess, actors: list[str]
) -> None:
    durable_server.stop()
    env = {"LEASEHOLD_DATABASE_URL": durable_database_url, "LEASEHOLD_PROBE_PORT": "0"}
    process = start_process(["run", *actors, "--log-format", "text"], env)
    await process.until_line("lost the database")
    await until(lambda: status(process, "/livez") == 200)
    assert [status(process, path) for path in ("/readyz", "/startupz")] == [503, 503]
    assert "running" not in process.output
    durable_server.start()
    await process.until_line(f"running {actors[0]}")
    await until(lambda: status(process, "/readyz") == 200)
    assert process.output.count("lost the database") == 1


async def test_who_waits_ends_at_the_first_signal(
    durable_server: OwnServer, durable_database_url: str, start_process: StartProcess
) -> None:
    durable_server.stop()
    process = start_process(["run", "worker"], {"LEASEHOLD_DATABASE_URL": durable_database_url})
    await process.until_line("lost the database")
    process.signal(signal.SIGTERM)
    assert await process.until_exit() == 0


async def test_a_gateway_answers_503_until_the_database_is_there(
    durable_server: OwnServer, durable_database_url: str, start_process: StartProcess
) -> None:
    durable_server.stop()
    process = start_process(["gateway", "--port", "0"], {"LEASEHOLD_DATABASE_URL": durable_database_url})
    await process.until_line("gateway serves")
    assert [status(process, path) for path in ("/livez", "/readyz")] == [200, 503]
    durable_server.start()
    await until(lambda: status(process, "/readyz") == 200)


# What the first connection of a worker meets, in a role or a database of its own, and what mends it.
TROUBLES = {
    "28000": (
        "create role late superuser nologin",
        'role "late" is not permitted to log in',
        "look at the user in the address, and at pg_hba.conf",
        "alter role late login",
    ),
    "28P01": (
        "create role late superuser login password 'rotated'",
        'password authentication failed for user "late"',
        "look at the user and the password in the address",
        "alter role late password 'known'",
    ),
    "3D000": (
        "create role late superuser login",
        'database "late" does not exist',
        "make it with `createdb`, or name another database",
        "create database late",
    ),
}


def ask_for_passwords(server: OwnServer) -> None:
    """From now on, whoever comes as `late` has to know a password."""
    rules = server.data_folder / "pg_hba.conf"
    rules.write_text(f"local all late scram-sha-256\n{rules.read_text()}")
    server.restart()


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_a_user_a_password_or_a_database_that_is_not_there_yet_is_waited_for(
    durable_server: OwnServer, durable_database_url: str, start_process: StartProcess, trouble: str
) -> None:
    begin, said, advice, mend = TROUBLES[trouble]
    url = durable_database_url.replace("//postgres@", "//late:known@")
    if trouble == "3D000":
        url = urlsplit(url)._replace(path="/late").geturl()
    if trouble == "28P01":
        ask_for_passwords(durable_server)
    async with open_database(durable_database_url) as database:
        await database.execute(begin)
        process = start_process(["run", "worker", "--log-format", "text"], {"LEASEHOLD_DATABASE_URL": url})
        line = await process.until_line("lost the database")
        assert said in line
        assert advice in line
        assert "running worker" not in process.output
        await database.execute(mend)
    if trouble == "3D000":
        await migrate(url)
    await process.until_line("running worker")
    async with open_database(url) as database:
        client = Client(database)
        assert await client.wait(await client.enqueue("echo", {"n": 7})) == {"n": 7}
    assert process.output.count("lost the database") == 1
    assert await trio.to_thread.run_sync(process.terminate) == 0


async def test_an_address_that_nothing_heals_is_not_waited_for(
    durable_database_url: str, start_process: StartProcess
) -> None:
    for command in (["run", "reaper"], ["run", "worker"], ["gateway", "--port", "0"]):
        process = start_process(command, {"LEASEHOLD_DATABASE_URL": f"{durable_database_url}&sslmode=bogus"})
        assert await process.until_exit() == 5
        assert "sslmode=bogus: it is one of disable" in process.output
    process = start_process(["run", "reaper"], {"LEASEHOLD_DATABASE_URL": f"{durable_database_url}&no_such=1"})
    assert await process.until_exit() == 5
    assert "no_such" in process.output


@pytest.mark.parametrize("actors", [["worker"], ["scheduler", "reaper"]])
async def test_actors_wait_for_the_schema_and_begin_when_it_is_there(
    empty_database_url: str, start_process: StartProcess, actors: list[str]
) -> None:
    env = {"LEASEHOLD_DATABASE_URL": empty_database_url, "LEASEHOLD_PROBE_PORT": "0"}
    process = start_process(["run", *actors, "--log-format", "text"], env)
    await process.until_line("no leasehold schema yet: run `leasehold migrate`; this process waits until that is done")
    await until(lambda: status(process, "/livez") == 200)
    assert [status(process, path) for path in ("/readyz", "/startupz")] == [503, 503]
    await migrate(empty_database_url)
    await process.until_line(f"running {actors[0]}")
    await until(lambda: status(process, "/readyz") == 200)
    assert await trio.to_thread.run_sync(process.terminate) == 0


async def test_a_gateway_lives_and_says_why_it_is_not_ready_until_the_schema_is_there(
    empty_database_url: str, start_process: StartProcess
) -> None:
    env = {"LEASEHOLD_DATABASE_URL": empty_database_url}
    process = start_process(["gateway", "--port", "0", "--log-format", "text"], env)
    await process.until_line("run `leasehold migrate`; what needs the database is answered with 503 until that is done")
    url = (await process.until_line("gateway serves")).rpartition(" ")[2]
    assert status(process, "/livez") == 200
    assert "leasehold migrate" in await trio.to_thread.run_sync(refusal, f"{url}/readyz")
    await migrate(empty_database_url)
    await until(lambda: status(process, "/readyz") == 200)
    assert await trio.to_thread.run_sync(process.terminate) == 0


async def test_a_gateway_that_has_to_count_tokens_counts_them_when_the_schema_is_there(
    empty_database_url: str, start_process: StartProcess
) -> None:
    env = {"LEASEHOLD_DATABASE_URL": empty_database_url}
    process = start_process(["gateway", "--host", "0.0.0.0", "--port", "0", "--log-format", "text"], env)
    await process.until_line("nothing is served before the database can be asked for tokens")
    await migrate(empty_database_url)
    assert await process.until_exit() == 2
    assert "there is no token" in process.output
