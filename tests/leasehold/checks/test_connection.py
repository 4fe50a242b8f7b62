from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from leasehold.checks import connection
from leasehold.checks.connection import (
    certain_skew,
    check_clock,
    check_connections,
    check_notify,
    check_pooler,
    check_server,
    judge_connections,
    judge_skew,
)
from leasehold.database import Database, open_database
from leasehold.database import connector as hearing
from leasehold.database.border import listen
from leasehold.settings import Settings
from tests.conftest import Psql
from tests.support.pgbouncer import pgbouncer
from tests.support.servers import OwnServer
from tests.support.sql_waits import freeze
from tests.support.waiting import PATIENCE

SETTINGS = Settings()


@pytest.fixture(autouse=True)
def a_machine_that_takes_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no notification is late yet."""
    monkeypatch.setattr(connection, "PING_SECONDS", PATIENCE)


def with_direct(dsn: str) -> Settings:
    return msgspec.structs.replace(SETTINGS, direct_database_url=dsn)


async def verdict_after(database_url: str, psql: Psql, change: str) -> tuple[str, str]:
    psql(database_url, f"do $$ begin execute format('alter database %I {change}', current_database()); end $$")
    async with open_database(database_url, pool_size=1) as database:
        check = await check_server(database, "here")
    return check.verdict, check.detail


async def test_sessions_that_may_not_write_are_a_problem(database_url: str, psql: Psql) -> None:
    verdict, detail = await verdict_after(database_url, psql, "set default_transaction_read_only = on")
    assert (verdict, detail.rpartition("; ")[2]) == ("problem", "here, default_transaction_read_only = on")


async def test_another_isolation_than_read_committed_is_a_problem(database_url: str, psql: Psql) -> None:
    verdict, detail = await verdict_after(database_url, psql, "set default_transaction_isolation = ''repeatable read''")
    assert (verdict, "repeatable read" in detail) == ("problem", True)


async def test_a_standby_is_a_problem_and_the_primary_is_asked_for(durable_server: OwnServer) -> None:
    durable_server.stop()
    (durable_server.data_folder / "standby.signal").touch()
    durable_server.start()
    async with open_database(durable_server.dsn(), pool_size=1) as database:
        check = await check_server(database, "here")
    assert (check.verdict, check.detail.rpartition(", ")[2]) == ("problem", "a read-only standby")
    assert check.advice == "name the primary in LEASEHOLD_DATABASE_URL"


async def test_an_old_postgres_is_a_problem(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "OLDEST_POSTGRES", 99)
    assert (await check_server(database, "here")).advice == "use Postgres 99 or newer"


async def test_without_a_pooler_all_is_well_and_a_direct_connection_needless(database: Database) -> None:
    assert (await check_pooler(database, SETTINGS)).verdict == "ok"
    assert (await check_pooler(database, with_direct(database.dsn))).verdict == "advice"


async def test_a_direct_connection_to_another_database_is_a_problem(
    database: Database, empty_database_url: str
) -> None:
    check = await check_pooler(database, with_direct(empty_database_url))
    assert (check.verdict, "leads to another database" in check.detail) == ("problem", True)


async def test_a_direct_connection_that_is_pooled_as_well_is_a_problem(database_url: str) -> None:
    with pgbouncer(database_url) as pooled_url:
        async with open_database(pooled_url) as database:
            check = await check_pooler(database, with_direct(pooled_url))
    assert (check.verdict, "leads through a pooler, too" in check.detail) == ("problem", True)


async def test_a_direct_connection_that_does_not_answer_is_a_problem(database: Database, tmp_path: Path) -> None:
    check = await check_pooler(database, with_direct(f"postgresql://ada:secret@/db?host={tmp_path}"))
    assert (check.verdict, "does not answer" in check.detail) == ("problem", True)
    assert "secret" not in check.detail


async def test_a_pooler_is_named_and_a_direct_connection_asked_for(database_url: str) -> None:
    direct = with_direct(database_url)
    with pgbouncer(database_url) as pooled_url:
        async with open_database(pooled_url) as database:
            assert (await check_pooler(database, SETTINGS)).verdict == "advice"
            assert (await check_pooler(database, direct)).verdict == "ok"
            assert (await check_pooler(database, msgspec.structs.replace(SETTINGS, notify=False))).verdict == "ok"


async def test_deafness_behind_a_pooler_is_a_problem_that_a_direct_connection_cures(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hearing, "HEARING_SECONDS", 0.2)
    with pgbouncer(database_url) as pooled_url:
        async with open_database(pooled_url) as database:
            check = await check_notify(database, SETTINGS)
            assert check.verdict == "problem"
            assert "LEASEHOLD_DIRECT_DATABASE_URL" in (check.advice or "")
        async with open_database(pooled_url, direct_dsn=database_url) as database:
            assert (await check_notify(database, SETTINGS)).verdict == "ok"


async def test_who_does_not_want_notifications_is_not_asked(database: Database) -> None:
    assert (await check_notify(database, msgspec.structs.replace(SETTINGS, notify=False))).verdict == "skipped"


async def test_a_queue_of_notifications_that_fills_up_is_a_problem(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "FULL_QUEUE", 0.0)
    async with listen(database, "slow") as listening:
        # A session that listens and is in a transaction holds back the tail of the queue.
        await listening.notify("slow", "x", PATIENCE)
        async with database.transaction() as holding:
            await holding.execute("listen slow")
            await holding.execute("commit; begin; select 1")
            await database.execute("select pg_notify('slow', repeat('x', 7000) || i) from generate_series(1, 2000) i")
            check = await check_notify(database, SETTINGS)
    assert (check.verdict, "% full" in check.detail) == ("problem", True)


async def test_a_frozen_clock_is_a_problem(database_url: str, psql: Psql) -> None:
    psql(
        database_url,
        "do $$ begin execute format('alter database %I set leasehold.frozen_clock = ''2026-01-01 00:00+00''', "
        "current_database()); end $$",
    )
    async with open_database(database_url, pool_size=1) as database:
        check = await check_clock(database)
    assert (check.verdict, check.detail.startswith("frozen at 2026-01-01")) == ("problem", True)


async def test_a_clock_that_was_set_back_is_told_before_and_after_somebody_noticed(database: Database) -> None:
    async with database.reserve("ahead") as connection:
        await freeze(connection, (datetime.now(UTC) + timedelta(hours=1, seconds=30)).isoformat())
        await connection.call("reap_jobs")
    unnoticed = await check_clock(database)
    await database.call("reap_jobs")
    noticed = await check_clock(database)
    assert (unnoticed.verdict, noticed.verdict) == ("problem", "advice")
    assert "was set back by about 1:00:" in unnoticed.detail
    assert "was set back by about 1:00:" in noticed.detail
    await database.execute("update leasehold.reap_turns set set_back_at = set_back_at - interval '1 day'")
    assert (await check_clock(database)).verdict == "ok"


async def test_clocks_that_agree_are_well(database: Database) -> None:
    assert (await check_clock(database)).verdict == "ok"


@pytest.mark.parametrize(("wall", "ahead"), [(-5, -5.0), (0, 0.0), (9, 0.0), (10, 0.0), (12, 2.0)])
def test_an_answer_that_was_long_under_way_proves_no_skew(wall: int, ahead: float) -> None:
    asked = datetime(2030, 1, 1, tzinfo=UTC)
    assert certain_skew(asked, asked + timedelta(seconds=wall), asked + timedelta(seconds=10)) == ahead


@pytest.mark.parametrize(
    ("seconds", "verdict", "words"), [(0.9, "ok", "within"), (-1.1, "advice", "behind"), (90, "advice", "ahead")]
)
def test_skew_is_told_with_its_direction(seconds: float, verdict: str, words: str) -> None:
    check = judge_skew(seconds)
    assert (check.verdict, words in check.detail) == (verdict, True)


@pytest.mark.parametrize(("used", "verdict"), [(75, "ok"), (76, "advice"), (90, "advice"), (91, "problem")])
def test_connections_are_judged_by_their_share(used: int, verdict: str) -> None:
    assert judge_connections(used, 100, 3).verdict == verdict


async def test_our_own_connections_are_counted(database: Database) -> None:
    check = await check_connections(database)
    assert check.verdict == "ok"
    assert " 0 of them by leasehold" not in check.detail
