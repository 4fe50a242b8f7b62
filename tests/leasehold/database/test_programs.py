from __future__ import annotations

import fcntl
import os
import pwd
import threading
from pathlib import Path

import psutil
import pytest

from leasehold.database import programs
from leasehold.database.embedded import embedded_postgres
from leasehold.database.programs import SystemUser
from leasehold.errors import DatabaseError
from tests.support.folders import short_folder
from tests.support.waiting import PATIENCE


def servers_in(folder: Path) -> list[int]:
    found: list[int] = []
    for each in psutil.process_iter():
        try:
            if str(each.cwd()).startswith(str(folder)):
                found.append(each.pid)
        except psutil.Error:
            continue
    return found


def test_a_new_server_is_given_up_while_its_data_is_made() -> None:
    with short_folder() as folder:
        with pytest.raises(DatabaseError), embedded_postgres(folder / "db", hurries=lambda: True):
            pass
        assert servers_in(folder) == []
        assert not list((folder / "db").glob("data*"))


@pytest.mark.parametrize("looks", [0, 1, 3])
def test_a_server_is_given_up_while_it_starts(looks: int) -> None:
    with short_folder() as folder:
        with embedded_postgres(folder / "db", sync=False):
            pass
        seen = iter(range(looks))
        try:
            with embedded_postgres(folder / "db", hurries=lambda: next(seen, None) is None):
                pass
        except DatabaseError:
            pass
        assert servers_in(folder) == []
        with embedded_postgres(folder / "db") as server:
            assert server.is_running()


def test_who_waits_for_another_process_gives_up() -> None:
    has_begun, may_end = threading.Event(), threading.Event()

    def hold(folder: Path) -> None:
        with embedded_postgres(folder, sync=False) as server, server._changing():  # pyright: ignore[reportPrivateUsage]
            has_begun.set()
            may_end.wait(PATIENCE)

    with short_folder() as folder:
        holder = threading.Thread(target=hold, args=(folder / "db",))
        holder.start()
        has_begun.wait(PATIENCE)
        with (
            pytest.raises(DatabaseError, match="another process"),
            embedded_postgres(folder / "db", hurries=lambda: True),
        ):
            pass
        may_end.set()
        holder.join()


def test_only_one_process_at_a_time_makes_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[bool] = []

    def nobody(name: str) -> pwd.struct_passwd:
        raise KeyError(name)

    def make_user() -> pwd.struct_passwd:
        another = os.open("/etc", os.O_RDONLY)
        try:
            fcntl.flock(another, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            refused.append(True)
        finally:
            os.close(another)
        return pwd.getpwuid(os.getuid())

    monkeypatch.setattr(programs.pwd, "getpwnam", nobody)
    monkeypatch.setattr(programs, "_make_user", make_user)
    assert SystemUser.find().uid == os.getuid()
    assert refused == [True]
