"""Faults of Postgres and of what strangers do in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from typing import LiteralString

import psycopg
import trio

from faults.fleet.server import Server
from faults.inject.stage import Stage, Targets, blocking

OURS: LiteralString = "application_name like 'leasehold%' and pid <> pg_backend_pid()"
SOME: LiteralString = f"select pid from pg_stat_activity where {OURS} order by random() limit 1"
ONE_OF_OURS: LiteralString = f"select pg_terminate_backend(pid) from ({SOME}) s"
FLOOD: LiteralString = (
    "select pg_notify('leasehold', 'wake:default'), pg_notify('leasehold', 'junk ' || n) from generate_series(1, 500) n"
)
TROUBLE: LiteralString = """
create or replace function watch.trouble() returns trigger language plpgsql as $$
begin
    if random() < 0.1 then
        raise exception using errcode = case when random() < 0.5 then '40P01' else '40001' end, message = 'made up';
    end if;
    return null;
end $$;
drop trigger if exists trouble on leasehold.jobs;
create trigger trouble after update or delete on leasehold.jobs for each statement execute function watch.trouble();
"""
NO_TROUBLE: LiteralString = "drop trigger if exists trouble on leasehold.jobs"


async def quietly(stage: Stage, sql: LiteralString) -> None:
    """Tell the server something; whether it is there to hear it is not the point."""

    def tell() -> None:
        with suppress(psycopg.Error):
            stage.server.execute(sql)

    await blocking(tell)


def done_to_server(work: Callable[[Server], None]) -> Callable[[Stage], Awaitable[Targets]]:
    """A fault that is over when the server has done this."""

    async def inject(stage: Stage) -> Targets:
        await blocking(lambda: work(stage.server))
        return ()

    return inject


restart = done_to_server(lambda server: server.restart("fast"))
crash = done_to_server(lambda server: server.restart("immediate"))
kill_postmaster = done_to_server(Server.kill_postmaster)
kill_backend = done_to_server(Server.kill_backend)
fail_over = done_to_server(Server.fail_over)


async def away(stage: Stage) -> Targets:
    await blocking(lambda: stage.server.primary.stop("fast"))
    try:
        await stage.wait()
    finally:
        with trio.CancelScope(shield=True):
            await blocking(stage.server.primary.start)
    return ()


async def terminate_all(stage: Stage) -> Targets:
    await quietly(stage, f"select pg_terminate_backend(pid) from pg_stat_activity where {OURS}")
    return ()


async def again_and_again(stage: Stage, sql: LiteralString, pause: float) -> Targets:
    """The same as long as the fault lasts, each time after a pause (seconds)."""
    with trio.move_on_after(stage.hold):
        while True:
            await quietly(stage, sql)
            await trio.sleep(pause)
    return ()


async def terminate_some(stage: Stage) -> Targets:
    return await again_and_again(stage, ONE_OF_OURS, 0.1)


async def terminate_listeners(stage: Stage) -> Targets:
    await quietly(
        stage,
        f"select pg_terminate_backend(pid) from pg_stat_activity where {OURS} and application_name like '%listener'",
    )
    return ()


async def cancel_statements(stage: Stage) -> Targets:
    running: LiteralString = f"select pg_cancel_backend(pid) from pg_stat_activity where {OURS} and state = 'active'"
    return await again_and_again(stage, running, 0.05)


async def no_connections_left(stage: Stage) -> Targets:
    """Reserved ones for superusers are among those that are taken: our user is one."""
    with ExitStack() as stack:

        def take() -> None:
            with suppress(psycopg.Error):
                for _ in range(400):
                    stack.enter_context(psycopg.connect(stage.server.dsn, application_name="hog"))

        await blocking(take)
        await stage.wait()
    return ()


async def in_transaction(stage: Stage, *statements: LiteralString) -> None:
    """A stranger's transaction, open for as long as the fault lasts."""

    def begin() -> psycopg.Connection | None:
        with suppress(psycopg.Error):
            connection = psycopg.connect(stage.server.dsn, application_name="stranger")
            try:
                for statement in statements:
                    connection.execute(statement)
            except psycopg.Error:
                connection.close()
                raise
            return connection
        return None

    connection = await blocking(begin)
    try:
        await stage.wait()
    finally:
        if connection is not None:
            connection.close()


async def locked_table(stage: Stage) -> Targets:
    await in_transaction(stage, "set lock_timeout = '2s'", "lock table leasehold.jobs in access exclusive mode")
    return ()


async def locked_rows(stage: Stage) -> Targets:
    rows: LiteralString = (
        "select from leasehold.jobs where incarnation is not null order by random() limit 3 for update skip locked"
    )
    await in_transaction(stage, rows)
    return ()


async def old_snapshot(stage: Stage) -> Targets:
    await in_transaction(
        stage, "set transaction isolation level repeatable read", "select count(*) from leasehold.jobs"
    )
    return ()


async def vacuum(stage: Stage) -> Targets:
    await quietly(stage, "vacuum (freeze, analyze) leasehold.jobs")
    return ()


async def flood(stage: Stage) -> Targets:
    return await again_and_again(stage, FLOOD, 0.0)


async def deadlocks(stage: Stage) -> Targets:
    await quietly(stage, TROUBLE)
    try:
        await stage.wait()
    finally:
        with trio.CancelScope(shield=True):
            await quietly(stage, NO_TROUBLE)
    return ()


async def slow_commits(stage: Stage) -> Targets:
    await quietly(stage, "alter system set commit_delay = 50000")
    await quietly(stage, "alter system set commit_siblings = 0")
    await quietly(stage, "select pg_reload_conf()")
    try:
        await stage.wait()
    finally:
        with trio.CancelScope(shield=True):
            await quietly(stage, "alter system reset commit_delay")
            await quietly(stage, "alter system reset commit_siblings")
            await quietly(stage, "select pg_reload_conf()")
    return ()


async def big_ids(stage: Stage) -> Targets:
    """Each time past the next edge: 2^31, then 2^53."""
    await quietly(
        stage,
        "select setval('leasehold.jobs_id_seq', case when last_value < 2147483000 then 2147483600"
        " when last_value < 9007199254740000 then 9007199254740900 else last_value end) from leasehold.jobs_id_seq",
    )
    return ()
