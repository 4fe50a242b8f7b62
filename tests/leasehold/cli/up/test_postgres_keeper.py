from __future__ import annotations

import os
import signal

import pytest
import trio

from leasehold.cli.up import watch
from leasehold.cli.up.processes import MOST_DEATHS, Level
from leasehold.cli.up.watch import keep_running
from leasehold.database.embedded import embedded_postgres
from leasehold.errors import DatabaseError
from tests.support.folders import short_folder
from tests.support.servers import psql_on
from tests.support.waiting import PATIENCE


class Server:
    """Not running; starts only if it is not broken."""

    def __init__(self, *, is_broken: bool) -> None:
        self._is_broken = is_broken
        self.starts = 0

    def is_running(self) -> bool:
        return False

    def revive(self) -> None:
        self.starts += 1
        if self._is_broken:
            raise DatabaseError("pg_ctl failed (1)\nFATAL: no space")


def at_once(_deaths: int) -> float:
    return 0.0


@pytest.mark.parametrize(
    ("is_broken", "what"), [(True, "embedded Postgres does not start"), (False, "embedded Postgres has died")]
)
async def test_what_dies_again_and_again_is_given_up(*, is_broken: bool, what: str) -> None:
    server, lines, given_up = Server(is_broken=is_broken), list[str](), list[tuple[str, int]]()
    levels = dict[str, Level]()

    def show(_name: str, line: str, level: Level = "info", /) -> None:
        lines.append(line)
        levels[line] = level

    def give_up(what: str, deaths: int) -> None:
        given_up.append((what, deaths))

    with trio.fail_after(PATIENCE):
        await keep_running(server, show, give_up, at_once)
    assert given_up == [(what, MOST_DEATHS)]
    assert server.starts == MOST_DEATHS - 1
    assert lines[0] == "embedded Postgres has died; starting it again in 0.0 s"
    assert levels[lines[0]] == "warning"
    assert levels.get("FATAL: no space") == ("error" if is_broken else None)


async def test_a_killed_postgres_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "POSTGRES_LOOK_SECONDS", 0.05)
    runs_again = trio.Event()

    def show(_name: str, line: str, _level: Level = "info", /) -> None:
        if line == "embedded Postgres runs again":
            runs_again.set()

    def give_up(what: str, deaths: int) -> None:
        raise AssertionError(what, deaths)

    with short_folder() as folder, embedded_postgres(folder / "data", sync=False) as server:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep_running, server, show, give_up, at_once)
            os.kill(int((server.data_folder / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
            with trio.fail_after(PATIENCE):
                await runs_again.wait()
            nursery.cancel_scope.cancel()
        assert psql_on(str(server.programs / "psql"), server.dsn, "select 1") == "1"
