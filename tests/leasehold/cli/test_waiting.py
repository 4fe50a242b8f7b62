"""What a command says while somebody has locked what it wants."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable

import psycopg

from leasehold.cli.runtime.services import Services
from leasehold.cli.runtime.terminal import Terminal
from leasehold.cli.shell.launcher import run
from tests.leasehold.cli.conftest import Cli

# What is locked, what that is called, and who has to wait for it.
LOCKS = [
    (
        "lock table leasehold.jobs in access exclusive mode",
        "leasehold.jobs",
        ["status", "jobs list", "jobs show 1", "events"],
    ),
    ("lock table leasehold.jobs in exclusive mode", "leasehold.jobs", ["enqueue echo"]),
    ("select from leasehold.schedules for update", "a row", ["schedules disable nightly"]),
]


class Hasty(Services):
    """Commands say at once what they wait for."""

    patience = 0.0


class Heard(io.StringIO):
    """A standard error whose first line has a consequence."""

    def __init__(self, consequence: Callable[[], object]) -> None:
        super().__init__()
        self._consequence = consequence

    def write(self, text: str) -> int:
        """As ever."""
        if not self.getvalue():
            self._consequence()
        return super().write(text)


def test_a_command_that_waits_for_a_lock_says_once_who_has_it_and_goes_on_when_it_is_free(
    cli: Cli, database_url: str
) -> None:
    cli("enqueue", "echo")
    cli("schedules", "create", "nightly", "echo", "--cron", "@daily")
    environ = {**os.environ, "LEASEHOLD_DATABASE_URL": database_url, "COLUMNS": "100"}
    for lock, what, commands in LOCKS:
        for command in commands:
            with psycopg.connect(database_url, application_name="long report") as holder:
                holder.execute(lock.encode())
                pid = holder.info.backend_pid
                out, err = io.StringIO(), Heard(holder.rollback)
                code = run([*command.split(), "--output", "json"], Terminal(io.StringIO(), out, err, environ), Hasty())
            said = err.getvalue().splitlines()
            assert code == 0, said
            assert said[0].startswith(f"still waiting for {what}, which session {pid} (long report, user ")
            assert said[0].endswith(f": {lock}) has locked")
            assert sum(line.startswith("still waiting") for line in said) == 1
            assert isinstance(json.loads(out.getvalue()), dict | list)


def test_one_that_gives_up_on_a_lock_says_where_to_look(cli: Cli, database_url: str) -> None:
    cli("enqueue", "echo")
    with psycopg.connect(database_url) as holder:
        holder.execute("lock table leasehold.jobs in access exclusive mode")
        done = cli("jobs", "cancel", "1")
    assert done.code == 5
    assert done.err.endswith("lock timeout [SQLSTATE 55P03]; `leasehold doctor` tells who has the lock\n")


def test_one_that_has_waited_for_long_enough_says_where_to_look(run_cli: Cli, database_url: str) -> None:
    with psycopg.connect(database_url) as holder:
        holder.execute("lock table leasehold.jobs in access exclusive mode")
        pid = holder.info.backend_pid
        done = run_cli("status", "--database-url", database_url, environ={"LEASEHOLD_STATEMENT_SECONDS": "1"})
        found = run_cli("doctor", "--database-url", database_url)
    assert done.code == 5
    assert done.err == (
        "error: the database did not answer in time; `leasehold doctor` tells whether somebody has a lock\n"
    )
    assert f"session {pid}" in found.out
