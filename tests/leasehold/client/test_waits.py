from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from time import monotonic
from typing import Any

import pytest

from leasehold import App, Client, open_client
from leasehold.client import chain_ends as chain_watch
from leasehold.concurrency.flavours import pause
from leasehold.database import Database
from leasehold.errors import (
    BadInput,
    ChainCancelled,
    ChainFailed,
    ClientClosed,
    DatabaseUnavailable,
    UnknownJob,
    WaitTimeout,
)
from leasehold.jobs.endings import ContinueWith
from leasehold.jobs.new_job import NewJob
from leasehold.notify import asyncio_listener
from tests.leasehold.client.conftest import Under, with_client
from tests.support.flavours import in_flavour
from tests.support.many import tasks
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE

LISTENERS = (
    "select count(*) from pg_stat_activity where datname = current_database()"
    " and application_name = 'leasehold listener' and query ilike 'listen%' and state = 'idle'"
)


def sql(client: Client) -> Any:
    """The client's database, for a test that looks behind the client."""
    return client._database  # pyright: ignore[reportPrivateUsage]


def watch_of(client: Client) -> Any:
    return client._core.ends  # pyright: ignore[reportPrivateUsage]


async def has_looked(client: Client) -> bool:
    """Whether somebody waits whose chain was open at the first look."""
    return any(wait.looked for waits in watch_of(client)._waits.values() for wait in waits)


async def until(question: Callable[[], Awaitable[object]], answer: object = True) -> None:
    """As `eventually`, in either flavour."""
    given_up, last = monotonic() + PATIENCE, None
    while monotonic() < given_up:
        with suppress(DatabaseUnavailable):
            if (last := await question()) == answer:
                return
        await pause(0.01)
    raise AssertionError(f"never {answer!r}: {last!r}")


async def listeners(client: Client) -> int:
    return (await sql(client).fetch(LISTENERS))[0][0]


async def waiters(client: Client) -> int:
    return (await sql(client).fetch("select count(*) from leasehold.chain_waiters"))[0][0]


@asynccontextmanager
async def waiting(client: Client, chain_id: int) -> AsyncGenerator[list[object]]:
    """Somebody waits for the chain, and listens, when the block begins; its output is there after it."""
    outputs: list[object] = []

    async def wait() -> None:
        outputs.append(await client.wait(chain_id, timeout=PATIENCE))

    async with tasks() as start:
        start(wait)
        await until(lambda: listeners(client), 1)
        yield outputs


async def completes(client: Client, chain_id: int, output: object) -> bool:
    await client.chains.complete(chain_id, output)
    return True


@pytest.fixture
def only_notified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Polls come too late to matter."""
    monkeypatch.setattr(chain_watch, "FIRST_PAUSE", 3600.0)


@with_client()
async def test_the_output_of_a_chain_that_has_ended_comes_at_once(client: Client) -> None:
    chain_id = await client.enqueue("approve")
    await client.chains.complete(chain_id, {"by": "Ada"})
    assert await client.wait(chain_id) == {"by": "Ada"}
    assert await client.wait(chain_id, timeout=0) == {"by": "Ada"}


@pytest.mark.usefixtures("only_notified")
@with_client()
async def test_the_end_of_a_chain_is_notified_to_who_waits_for_it(client: Client) -> None:
    chain_id = await client.enqueue("approve")
    async with waiting(client, chain_id) as outputs:
        await client.chains.complete(chain_id, 7)
    assert outputs == [7]
    assert await waiters(client) == 0


@with_client(listens=False)
async def test_without_notifications_polling_finds_it(client: Client) -> None:
    chain_id, outputs = await client.enqueue("approve"), list[object]()

    async def wait() -> None:
        outputs.append(await client.wait(chain_id))

    async with tasks() as start:
        start(wait)
        await until(lambda: has_looked(client))
        assert (await listeners(client), await waiters(client)) == (0, 0)
        await client.chains.complete(chain_id, [1, 2])
    assert outputs == [[1, 2]]


@with_client()
async def test_a_chain_that_goes_on_is_waited_for_to_its_end(client: Client) -> None:
    chain_id = await client.enqueue("pay")
    async with waiting(client, chain_id) as outputs:
        await client.chains.complete(chain_id, continue_with=NewJob(kind="pack"))
        await client.chains.complete(chain_id, "packed")
    assert outputs == ["packed"]


@with_client()
async def test_a_chain_that_ended_otherwise_says_how(client: Client) -> None:
    cancelled, failed = await client.enqueue("pay"), await client.enqueue("pack")
    await client.chains.cancel(cancelled, "no money")
    with pytest.raises(ChainCancelled, match=rf"chain {cancelled} was cancelled: no money at job {cancelled} \(pay\)"):
        await client.wait(cancelled)
    worker = SqlWorker(sql(client))
    await worker.fail(await worker.claim(), discard=[True])
    with pytest.raises(
        ChainFailed, match=rf"chain {failed} failed at job {failed} \(pack\): ValueError: boom"
    ) as raised:
        await client.wait(failed, timeout=timedelta(seconds=PATIENCE))
    assert raised.value.chain is not None
    assert raised.value.chain.error["message"] == "boom"
    await client.retry(failed)
    with pytest.raises(WaitTimeout):
        await client.wait(failed, timeout=0)


@with_client()
async def test_what_is_no_chain_or_is_deleted_meanwhile_is_not_waited_for(client: Client) -> None:
    for timeout in (None, 0, PATIENCE):
        with pytest.raises(UnknownJob, match="no chain 99"):
            await client.wait(99, timeout=timeout)
    chain_id = await client.enqueue("pay")

    async def wait() -> None:
        with pytest.raises(UnknownJob):
            await client.wait(chain_id)

    async with tasks() as start:
        start(wait)
        await until(lambda: waiters(client), 1)
        await client.chains.delete(chain_id)


@with_client()
async def test_when_the_time_is_up_the_chain_goes_on_and_nothing_is_left_behind(client: Client) -> None:
    chain_id = await client.enqueue("pay")
    with pytest.raises(WaitTimeout, match=rf"chain {chain_id} is still open after 0\.05 s"):
        await client.wait(chain_id, timeout=0.05)
    assert watch_of(client)._waits == {}
    with pytest.raises(BadInput):
        await client.wait(chain_id, timeout=float("nan"))
    assert (await client.chains.get(chain_id)).state == "open"


@with_client()
async def test_all_waits_share_a_connection_and_a_statement(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    call = Database.call

    async def counted(self: Any, function: str, *args: Any, **named: Any) -> Any:
        if function == "watch_chains":
            asked.append(len(args[0]))
        return await call(self, function, *args, **named)

    monkeypatch.setattr(Database, "call", counted)
    monkeypatch.setattr(chain_watch, "FIRST_PAUSE", 3600.0)
    chains = await client.enqueue_many([NewJob(kind="pay")] * 30)
    outputs: dict[int, object] = {}

    async def wait(chain_id: int) -> None:
        outputs[chain_id] = await client.wait(chain_id)

    async with tasks() as start:
        for each in chains * 2:
            start(lambda each=each: wait(each))
        await until(lambda: waiters(client), 30)
        await until(lambda: listeners(client), 1)
        before = len(asked)
        assert before < 10
        for each in chains:
            await client.chains.complete(each, each)
    assert outputs == {each: each for each in chains}
    assert max(asked) >= 29


@with_client()
async def test_a_wait_that_is_cancelled_disturbs_no_other(client: Client) -> None:
    chain_id, outputs = await client.enqueue("pay"), list[object]()

    async def wait() -> None:
        outputs.append(await client.wait(chain_id))

    async with tasks() as start:
        cancel = start(wait)
        start(wait)
        await until(lambda: listeners(client), 1)
        cancel()
        await pause(0)
        await client.chains.complete(chain_id, 1)
    assert outputs == [1]
    assert watch_of(client)._waits == {}


@with_client()
async def test_even_one_that_is_cancelled_at_once(client: Client) -> None:
    chain_id = await client.enqueue("pay")
    async with tasks() as start:
        for _ in range(20):
            start(lambda: client.wait(chain_id))()
    await client.chains.complete(chain_id, 1)
    assert await client.wait(chain_id) == 1
    assert watch_of(client)._waits == {}


@with_client()
async def test_when_nobody_waits_any_more_the_connection_is_closed_and_opened_again_when_needed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain_watch, "IDLE_SECONDS", 0.05)
    assert await listeners(client) == 0
    for number in range(2):
        chain_id = await client.enqueue("pay")
        async with waiting(client, chain_id) as outputs:
            await client.chains.complete(chain_id, number)
        assert outputs == [number]
        await until(lambda: listeners(client), 0)
        assert watch_of(client)._task is None


@with_client()
async def test_a_lost_connection_is_opened_anew_and_nobody_waits_in_vain(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asyncio_listener, "SHORTEST_PAUSE", 0.01)
    chains, outputs = [await client.enqueue("pay") for _ in range(2)], list[object]()

    async def wait(chain_id: int) -> None:
        outputs.append(await client.wait(chain_id))

    async with tasks() as start:
        for each in chains:
            start(lambda each=each: wait(each))
        await until(lambda: listeners(client), 1)
        await until(lambda: waiters(client), 2)
        await sql(client).fetch(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
            " and pid <> pg_backend_pid()"
        )
        await until(lambda: completes(client, chains[0], "first"))
        await until(lambda: listeners(client), 1)
        await until(lambda: completes(client, chains[1], "second"))
    assert sorted(map(str, outputs)) == ["first", "second"]


def test_who_still_waits_when_the_client_is_closed_is_told(flavour: str, database_url: str) -> None:
    async def main() -> None:
        async with tasks() as start, open_client(database_url) as client:
            chain_id = await client.enqueue("pay")

            async def wait() -> None:
                for _ in range(2):
                    with pytest.raises(ClientClosed):
                        await client.wait(chain_id)

            start(wait)
            await until(lambda: listeners(client), 1)

    in_flavour(flavour, main)


@with_client()
async def test_and_when_a_handler_under_asyncio_cancels_all_tasks(client: Client) -> None:
    chain_id = await client.enqueue("pay")

    async def wait() -> None:
        with pytest.raises(DatabaseUnavailable, match="somebody has cancelled"):
            await client.wait(chain_id)

    async with tasks() as start:
        start(wait)
        await until(lambda: listeners(client), 1)
        watch_of(client)._task.cancel()


@pytest.mark.parametrize("flavour", ["trio", "asyncio"])
def test_a_database_that_is_away_from_the_beginning_says_so(flavour: str) -> None:
    async def main() -> None:
        async with open_client("postgresql://nobody@127.0.0.1:1/none") as client:
            with pytest.raises(DatabaseUnavailable):
                await client.wait(1)

    in_flavour(flavour, main)


def test_the_output_is_what_the_kind_promises(under: Under) -> None:
    app = App()

    @app.kind()
    async def when(days: int) -> timedelta:
        return timedelta(days=days)

    @app.kind()
    async def later() -> ContinueWith[timedelta] | timedelta:
        return ContinueWith(when.new(3))

    @app.kind()
    async def anything():  # type: ignore[no-untyped-def]
        return None

    async def work(client: Client) -> None:
        for kind in (when, later):
            chain_id = await client.enqueue(kind.name, {"days": 3} if kind is when else {})
            await client.chains.complete(chain_id, "P3D")
            assert await client.wait(chain_id, kind=kind) == timedelta(days=3)
            assert await client.wait(chain_id, kind=anything) == "P3D"
        wrong = await client.enqueue(when.new(1))
        await client.chains.complete(wrong, "tomorrow")
        with pytest.raises(BadInput, match="does not fit what when promises"):
            await client.wait(wrong, kind=when)

    under(work, app=app)


async def test_only_a_client_on_a_pool_can_wait(database: Database) -> None:
    async with database.reserve("mine") as connection:
        with pytest.raises(BadInput, match="pool"):
            await Client(connection).wait(1)


@with_client()
async def test_what_is_no_kind_and_no_length_of_time_is_refused_before_the_wait(client: Client) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"kind": "greet"}, "kind must be a kind, as @app.kind makes it of a function, not 'greet'"),
        ({"kind": has_looked}, "kind must be a kind"),
        ({"timeout": -1}, "timeout must be 0 or more seconds or a timedelta, not -1"),
        ({"timeout": "soon"}, "timeout must be 0 or more seconds or a timedelta, not soon"),
    ]
    for options, complaint in wrong:
        with pytest.raises(BadInput, match=complaint):
            await client.wait(1, **options)
