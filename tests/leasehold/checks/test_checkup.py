from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial

import pytest
import trio

from leasehold.checks.checkup import check_all
from leasehold.checks.schema import check_drift
from leasehold.checks.verdicts import Check
from leasehold.database import Database, open_database
from leasehold.database.cluster import Cluster
from leasehold.database.migrations import migrate
from leasehold.settings import Settings
from tests.support.folders import short_folder
from tests.support.servers import programs_of, psql_on
from tests.support.waiting import eventually

ODD = {
    "quote_all_identifiers": "on",
    "bytea_output": "escape",
    "intervalstyle": "sql_standard",
    "datestyle": "'SQL, DMY'",
    "extra_float_digits": "-15",
    "standard_conforming_strings": "off",
    "search_path": "leasehold",
    "timezone": "'Pacific/Auckland'",
}


async def examine(database: Database, **options: float) -> dict[str, Check]:
    """What all checks find."""
    found = await check_all(database, Settings(), "here", None, **options)
    return {check.name: check for check in found}


async def test_who_holds_a_table_locked_is_named_and_the_other_checks_go_on(
    database: Database, database_url: str
) -> None:
    async with open_database(database_url, application_name="the vacuum") as other, other.transaction() as holder:
        await holder.execute("lock table leasehold.jobs in access exclusive mode")
        [row] = await holder.fetch("select pg_backend_pid() as pid")
        found = await examine(database)
    for name in ("jobs", "claims"):
        detail = (
            f"no answer, for session {row['pid']} (the vacuum, role postgres, idle in transaction) "
            "holds leasehold.jobs locked"
        )
        assert (found[name].verdict, found[name].detail) == ("problem", detail)
        assert found[name].advice == f"select pg_terminate_backend({row['pid']})"
    assert [found[name].verdict for name in ("database", "notify", "clock")] == ["ok"] * 3


async def test_so_is_who_holds_the_table_of_migrations(database: Database, database_url: str) -> None:
    async with open_database(database_url, application_name="the deploy") as other, other.transaction() as holder:
        await holder.execute("lock table leasehold.schema_migrations in access exclusive mode")
        [row] = await holder.fetch("select pg_backend_pid() as pid")
        found = await examine(database)
    detail = (
        f"no answer, for session {row['pid']} (the deploy, role postgres, idle in transaction) "
        "holds leasehold.schema_migrations locked"
    )
    assert (found["schema"].verdict, found["schema"].detail) == ("problem", detail)
    assert (found["jobs"].verdict, found["jobs"].detail) == ("skipped", "schema version unknown")
    assert [found[name].verdict for name in ("database", "notify", "clock")] == ["ok"] * 3


async def test_a_check_that_is_refused_says_so_and_the_other_checks_go_on(
    fresh_database_url: str, psql: Callable[[str, str], str]
) -> None:
    """Nobody can claim from a queue with limits in a transaction that is stricter than read committed."""
    psql(
        fresh_database_url,
        "select leasehold.set_limit('default', max_running => 5); select leasehold.enqueue_job('echo')",
    )
    setting = "set default_transaction_isolation = serializable"
    psql(fresh_database_url, f"do $$ begin execute format('alter database %I {setting}', current_database()); end $$")
    async with open_database(fresh_database_url) as database:
        found = await examine(database)
    assert "default_transaction_isolation = serializable" in found["database"].detail
    assert (found["claims"].verdict, found["claims"].detail[:9]) == ("problem", "refused: ")
    assert [found[name].verdict for name in ("schema", "notify", "clock")] == ["ok"] * 3


async def test_a_check_without_time_left_says_so(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leasehold.checks.connection.CLOCKS", "select pg_sleep(600)")
    assert (await examine(database, within=0.0))["clock"].detail == "no answer in time"


async def test_odd_settings_mislead_no_check(fresh_database: Database, fresh_database_url: str) -> None:
    plain = await examine(fresh_database)
    name = (await fresh_database.fetch("select current_database()"))[0][0]
    for setting, value in ODD.items():
        await fresh_database.execute(f'alter database "{name}" set {setting} = {value}')
    async with open_database(fresh_database_url) as odd:
        assert (await odd.fetch("show quote_all_identifiers"))[0][0] == "on"
        assert (await check_drift(odd)).detail == "every object is as this code makes it"
        found = await examine(odd)
    assert {name: check.verdict for name, check in found.items()} == {
        name: check.verdict for name, check in plain.items()
    }


@pytest.fixture
def lonely_url(postgres_choice: str) -> Generator[str]:
    """A server whose synchronous standby is gone."""
    choice = "embedded18" if "://" in postgres_choice else postgres_choice
    with short_folder() as folder:
        cluster = Cluster(folder, programs_of(choice), conf={"fsync": "on", "full_page_writes": "on"}, sync=False)
        cluster.start()
        trio.run(migrate, cluster.dsn())
        for statement in ("alter system set synchronous_standby_names = 'gone'", "select pg_reload_conf()"):
            psql_on(str(cluster.programs / "psql"), cluster.dsn(), statement)
        yield cluster.dsn()
        cluster.stop("immediate")


async def test_a_lost_synchronous_standby_is_named_and_holds_no_check_up(lonely_url: str, postgres_choice: str) -> None:
    programs = programs_of("embedded18" if "://" in postgres_choice else postgres_choice)
    psql = [str(programs / "psql"), lonely_url, "-c", "select leasehold.enqueue_job('echo')"]
    async with open_database(lonely_url) as database, trio.open_nursery() as nursery:
        waits = partial(trio.run_process, psql, capture_stdout=True, capture_stderr=True, check=False)
        process = await nursery.start(waits)

        async def is_waiting() -> bool:
            rows = await database.fetch("select count(*) from pg_stat_activity where wait_event = 'SyncRep'")
            return rows[0][0] > 0

        await eventually(is_waiting)
        found = await examine(database)
        process.kill()
    lost = "every commit waits for a synchronous standby (gone), and none is connected; sessions that wait: "
    assert found["durability"].detail.startswith(lost)
    assert found["notify"].verdict == "ok"
