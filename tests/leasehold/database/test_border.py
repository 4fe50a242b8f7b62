from __future__ import annotations

import pytest
import trio

from leasehold.database import Caller, Database, open_database, transactions
from leasehold.database.border import listen
from leasehold.errors import BadInput, DatabaseUnavailable, QueryRefused, SchemaMismatch, UnknownJob, WrongState
from tests.support.proxy import proxied
from tests.support.waiting import PATIENCE, eventually

BACKEND = "select pg_backend_pid() as pid"


async def backend_of(caller: Caller) -> int:
    return (await caller.fetch(BACKEND))[0]["pid"]


async def terminate(database: Database, pid: int) -> None:
    """End a backend and wait until it is gone."""
    await database.fetch("select pg_terminate_backend($1, 30000)", pid)


async def nobody_runs(database: Database, text: str) -> None:
    async def probe() -> bool:
        found = await database.fetch(
            "select 1 from pg_stat_activity where state = 'active' and query like $1 and pid <> pg_backend_pid()",
            f"%{text}%",
        )
        return not found

    await eventually(probe)


async def test_a_cancelled_query_is_cancelled_on_the_server_and_leaves_a_usable_pool(
    database: Database, database_url: str
) -> None:
    async with open_database(database_url, pool_size=1) as small:
        for _ in range(3):
            with trio.move_on_after(0.03) as scope:
                await small.fetch("select pg_sleep(30) /* cancelled */")
            assert scope.cancelled_caught
            await nobody_runs(database, "/* cancelled */")
            assert await backend_of(small)


async def test_a_query_that_takes_too_long_is_given_up_and_leaves_a_usable_pool(
    database: Database, database_url: str
) -> None:
    async with open_database(database_url, pool_size=1) as small:
        with pytest.raises(DatabaseUnavailable, match="in time"):
            await small.fetch("select pg_sleep(30) /* late */", timeout=0.03)
        with pytest.raises(DatabaseUnavailable, match="in time"):
            await small.execute("select pg_sleep(30) /* late */", timeout=0.03)
        await nobody_runs(database, "/* late */")
        assert await backend_of(small)


async def test_every_await_has_a_timeout_of_the_database(database_url: str) -> None:
    async with open_database(database_url, timeout=0.05) as hasty, hasty.reserve("own") as reserved:
        for caller in (hasty, reserved):
            with pytest.raises(DatabaseUnavailable, match="in time"):
                await caller.fetch("select pg_sleep(30)")


async def test_a_used_up_pool_makes_callers_wait_no_longer_than_the_timeout_and_does_not_stop_reserved_ones(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        open_database(database_url, pool_size=1, timeout=PATIENCE) as small,
        small.reserve("reserved") as reserved,
    ):
        async with small.transaction() as transaction:
            assert await backend_of(reserved) != await backend_of(transaction)
            with monkeypatch.context() as hasty:
                hasty.setattr(small, "timeout", 0.1)
                for use in (small.fetch("select 1"), small.execute("select 1")):
                    with trio.fail_after(PATIENCE), pytest.raises(DatabaseUnavailable, match="in time"):
                        await use
                with trio.fail_after(PATIENCE), pytest.raises(DatabaseUnavailable, match="in time"):
                    async with small.transaction():
                        raise AssertionError("there is no second connection")
            assert await backend_of(reserved)
        assert await backend_of(small)


async def test_a_reserved_connection_keeps_its_connection_through_errors_of_statements(database: Database) -> None:
    async with database.reserve("own") as reserved:
        pid = await backend_of(reserved)
        with pytest.raises(QueryRefused):
            await reserved.fetch("select 1 / nonsense")
        assert await backend_of(reserved) == pid


async def test_a_reserved_connection_whose_backend_was_terminated_connects_anew(database: Database) -> None:
    async with database.reserve("own") as reserved:
        pid = await backend_of(reserved)
        await terminate(database, pid)
        assert await eventually(lambda: backend_of(reserved)) != pid


async def test_a_reserved_connection_that_is_terminated_in_a_statement_says_so_and_connects_anew(
    database: Database,
) -> None:
    async with database.reserve("own") as reserved, trio.open_nursery() as nursery:
        pid = await backend_of(reserved)

        async def sleep() -> None:
            with pytest.raises(DatabaseUnavailable):
                await reserved.fetch("select pg_sleep(30)")

        nursery.start_soon(sleep)
        await eventually(lambda: is_active(database, pid))
        await terminate(database, pid)
        assert await eventually(lambda: backend_of(reserved)) != pid


async def is_active(database: Database, pid: int) -> bool:
    rows = await database.fetch("select state from pg_stat_activity where pid = $1", pid)
    return bool(rows) and rows[0]["state"] == "active"


async def test_a_cancelled_statement_on_a_reserved_connection_is_cancelled_on_the_server(database: Database) -> None:
    async with database.reserve("own") as reserved:
        with trio.move_on_after(0.03):
            await reserved.fetch("select pg_sleep(30) /* reserved */")
        await nobody_runs(database, "/* reserved */")
        assert await backend_of(reserved)


async def test_a_reserved_connection_serves_one_caller_at_a_time(database: Database) -> None:
    seen: list[int] = []

    async def use(reserved: Caller) -> None:
        seen.append(await backend_of(reserved))

    async with database.reserve("own") as reserved, trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(use, reserved)
    assert len(set(seen)) == 1
    assert len(seen) == 5


async def test_a_transaction_commits_when_its_block_ends(database: Database) -> None:
    await database.execute("create table notes (n int); insert into notes values (1)")
    async with database.transaction() as transaction:
        await transaction.execute("insert into notes values (2); insert into notes values (3)")
        assert await transaction.call_value("enqueue_job", "echo") == 1
    assert (await database.fetch("select count(*) from notes"))[0][0] == 3
    assert len(await database.call("get_job", 1)) == 1


async def test_a_transaction_rolls_back_when_it_is_cancelled(database_url: str) -> None:
    async with open_database(database_url, pool_size=1) as small:
        await small.execute("create table notes (n int)")
        with trio.CancelScope() as scope:
            async with small.transaction() as transaction:
                await transaction.execute("insert into notes values (1)")
                scope.cancel()
                await trio.lowlevel.checkpoint()
        assert scope.cancelled_caught
        assert (await small.fetch("select count(*) from notes"))[0][0] == 0


async def test_a_transaction_rolls_back_when_it_is_cancelled_in_a_statement(
    database: Database, database_url: str
) -> None:
    async with open_database(database_url, pool_size=1) as small:
        await small.execute("create table notes (n int)")
        with trio.move_on_after(0.05):
            async with small.transaction() as transaction:
                await transaction.execute("insert into notes values (1)")
                await transaction.fetch("select pg_sleep(30) /* inside */")
        await nobody_runs(database, "/* inside */")
        assert (await small.fetch("select count(*) from notes"))[0][0] == 0


async def write_and_raise(database: Database, error: BaseException | None) -> None:
    async with database.transaction() as transaction:
        await transaction.execute("insert into notes values (1)")
        if error is not None:
            raise error
        await transaction.call("cancel_job", 7)


async def test_a_transaction_rolls_back_when_its_block_raises_and_lets_the_error_through(database_url: str) -> None:
    async with open_database(database_url, pool_size=1) as small:
        await small.execute("create table notes (n int)")
        for error in (ValueError("mine"), KeyboardInterrupt()):
            with pytest.raises(type(error)) as caught:
                await write_and_raise(small, error)
            assert caught.value is error
        with pytest.raises(UnknownJob):
            await write_and_raise(small, None)
        assert (await small.fetch("select count(*) from notes"))[0][0] == 0


async def test_a_transaction_whose_connection_was_lost_says_so(database: Database, database_url: str) -> None:
    async with open_database(database_url, pool_size=1) as small:
        with pytest.raises(DatabaseUnavailable):
            async with small.transaction() as transaction:
                await terminate(database, await backend_of(transaction))
        assert await eventually(lambda: backend_of(small))


async def test_what_postgres_says_arrives_as_our_errors(database: Database) -> None:
    with pytest.raises(BadInput, match="kind is missing"):
        await database.call("enqueue_jobs", '[{"args": {}}]')
    with pytest.raises(UnknownJob, match="7"):
        await database.call("cancel_job", 7)
    job_id = await database.call_value("enqueue_job", "echo")
    with pytest.raises(WrongState):
        await database.call("retry_job", job_id)
    with pytest.raises(BadInput):
        await database.call("enqueue_jobs", "no json")
    with pytest.raises(BadInput):
        await database.call("get_job", "no number")
    with pytest.raises(QueryRefused) as refused:
        await database.fetch("select 1 from nowhere")
    assert refused.value.sqlstate == "42P01"


async def test_a_database_without_our_schema_says_what_to_do(empty_database_url: str) -> None:
    async with open_database(empty_database_url) as empty:
        with pytest.raises(SchemaMismatch, match="leasehold migrate"):
            await empty.call("clock")


async def test_a_database_that_nobody_answers_for_is_unavailable_at_the_first_use() -> None:
    async with open_database("postgresql://nobody@127.0.0.1:1/none") as nowhere, nowhere.reserve("own") as reserved:
        for caller in (nowhere, reserved):
            with pytest.raises(DatabaseUnavailable, match="cannot be reached"):
                await caller.fetch("select 1")
        with pytest.raises(DatabaseUnavailable):
            async with listen(nowhere, "channel"):
                raise AssertionError("nobody listens")


async def test_a_server_that_stops_answering_is_noticed_and_left_in_time(database_url: str) -> None:
    async with (
        proxied(database_url) as proxy,
        open_database(proxy.dsn, pool_size=1, timeout=0.3) as far,
        far.reserve("own") as reserved,
    ):
        callers = (far, reserved)
        for caller in callers:
            assert await eventually(lambda caller=caller: backend_of(caller))
        proxy.stall()
        for caller in callers:
            with trio.fail_after(PATIENCE), pytest.raises(DatabaseUnavailable):
                await caller.fetch("select 1")
        proxy.resume()
        for caller in callers:
            assert await eventually(lambda caller=caller: backend_of(caller))
        proxy.stall()
        # That it is left at all is what the limit of every test watches over.


async def test_a_server_that_stops_answering_costs_no_more_than_the_time_asked_for(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "CLOSE_SECONDS", 0.1)
    async with proxied(database_url) as proxy, open_database(proxy.dsn, pool_size=1, timeout=300) as far:
        assert await eventually(lambda: backend_of(far))
        proxy.stall()
        with trio.fail_after(PATIENCE), pytest.raises(DatabaseUnavailable):
            await far.fetch("select 1", timeout=0.1)
        with trio.fail_after(PATIENCE), trio.move_on_after(0.1) as given_up:
            await far.fetch("select 1")
        assert given_up.cancelled_caught
        proxy.resume()


async def test_a_channel_is_heard_until_its_connection_is_lost(database: Database) -> None:
    async with listen(database, "news") as listening:
        await listening.notify("news", "from myself", timeout=PATIENCE)
        await listening.check("news", timeout=PATIENCE)
        await database.fetch("select pg_notify('other', 'not for us')")
        await database.fetch("select pg_notify('news', 'from another')")
        with trio.fail_after(PATIENCE):
            heard = [await listening.payloads.receive() for _ in range(2)]
            # Not before: a session that is ended says nothing more, also of what it was told already.
            await database.fetch(
                "select pg_terminate_backend(pid, 30000) from pg_stat_activity where application_name like '%listener'"
                " and datname = current_database()"
            )
            heard += [payload async for payload in listening.payloads]
        with pytest.raises(DatabaseUnavailable):
            await listening.check("news", timeout=PATIENCE)
    assert heard == ["from myself", "from another"]


async def test_a_reader_who_is_slow_loses_what_does_not_fit_and_holds_up_nobody(database: Database) -> None:
    async with listen(database, "news", buffer=3) as listening:
        await database.fetch("select pg_notify('news', n::text) from generate_series(1, 1000) n")
        await listening.check("news", timeout=PATIENCE)
        heard = [listening.payloads.receive_nowait() for _ in range(3)]
        assert heard == ["1", "2", "3"]
        with pytest.raises(trio.WouldBlock):
            listening.payloads.receive_nowait()


async def test_a_connection_that_has_stopped_listening_is_found_out(database: Database) -> None:
    async with listen(database, "news") as listening:
        with pytest.raises(DatabaseUnavailable, match="stopped listening"):
            await listening.check("another", timeout=PATIENCE)


async def test_databases_may_be_opened_inside_one_another(database_url: str) -> None:
    async with open_database(database_url) as outer:
        async with open_database(database_url) as inner:
            assert await backend_of(inner) != await backend_of(outer)
        assert await backend_of(outer)


async def test_what_a_block_raises_comes_out_as_it_is(database_url: str) -> None:
    error = ValueError("mine")
    with pytest.raises(ValueError, match="mine") as caught:
        async with open_database(database_url):
            raise error
    assert caught.value is error


def test_under_plain_trio_a_loop_is_opened_and_left_behind_nowhere(database_url: str) -> None:
    async def main() -> int:
        async with open_database(database_url) as database:
            return await backend_of(database)

    assert trio.run(main) != trio.run(main)
