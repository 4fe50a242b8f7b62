"""Ctrl-C and SIGTERM, in turn, at random moments of commands. LEASEHOLD_INTERRUPTS=200 is the long form; -s shows the counts."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from contextlib import AbstractContextManager

import pytest
import trio

from leasehold.database.migrations import schema_state
from tests.conftest import Psql
from tests.support.folders import short_folder
from tests.support.interrupts import IS_LONG, Command, Interrupted, interrupt, interrupted_rounds, span_of, tell
from tests.support.servers import Server, new_database
from tests.support.waiting import eventually

pytestmark = pytest.mark.acceptance

ROUNDS = int(os.environ.get("LEASEHOLD_INTERRUPTS", "2"))
SEED = int(os.environ.get("LEASEHOLD_SEED", "1"))
QUICK_FILE = {"LEASEHOLD_GATEWAY_PORT": "0", "LEASEHOLD_LOG_FORMAT": "text"}
FAILED_JOBS = """
insert into leasehold.finished_jobs
    (id, kind, queue, state, args, priority, attempt, spared_attempts, max_attempts, created_at, run_at, finished_at)
select nextval('leasehold.jobs_id_seq'), 'echo', 'default', 'failed', '{}', 0, 1, 0, 1, now(), now(), now()
from generate_series(1, 3000)
"""


CONNECTED = """
select count(*) from pg_stat_activity where datname = current_database() and application_name like 'leasehold%'
"""


async def until_nobody_is_connected(psql: Psql, dsn: str) -> None:
    """Postgres notices a little later than the process ends."""

    async def probe() -> bool:
        return psql(dsn, CONNECTED) == "0"

    await eventually(probe)


def empty_database(server: Server) -> AbstractContextManager[str]:
    return new_database(server, "template0", "leasehold_interrupted")


def rounds_of(command: Command, rounds: int = ROUNDS) -> None:
    """The command interrupted at one moment after the other; fails, saying how to repeat it, if one end is wrong."""
    with short_folder() as folder:
        span = span_of(command, folder)

    def play(moment: float, number: signal.Signals) -> Interrupted:
        with short_folder() as folder:
            played = interrupt(command, moment, number, folder)
            if not played.fault:
                assert not list(folder.glob("leasehold-*")), "temporary folders were left"
            return played

    judge(command, span, interrupted_rounds(span, rounds, SEED, play))


def judge(command: Command, span: float, done: Sequence[Interrupted]) -> None:
    counts = f"{command}, seed {SEED}, {span:.1f} s long: {tell(done)}"
    print(counts)
    faults = [f"{each.number.name} after {each.moment:.3f} s: {each.fault}\n{each.said}" for each in done if each.fault]
    assert not faults, "\n".join([counts, *faults])


def test_a_migration_is_done_or_undone(postgres_server: Server, psql: Psql) -> None:
    def migrate_command(dsn: str) -> Command:
        return Command(["migrate"], {"LEASEHOLD_DATABASE_URL": dsn})

    with short_folder() as folder, empty_database(postgres_server) as dsn:
        span = span_of(migrate_command(dsn), folder)

    def play(moment: float, number: signal.Signals) -> Interrupted:
        with short_folder() as folder, empty_database(postgres_server) as dsn:
            played = interrupt(migrate_command(dsn), moment, number, folder)
            assert trio.run(schema_state, dsn).status in {"missing", "same"}
            trio.run(until_nobody_is_connected, psql, dsn)
            return played

    judge(migrate_command("…"), span, interrupted_rounds(span, ROUNDS, SEED, play))


def test_a_retry_of_many_jobs_is_done_or_undone(fresh_database_url: str, psql: Psql) -> None:
    psql(fresh_database_url, FAILED_JOBS)
    words = ["jobs", "retry", "--failed", "--yes", "--output", "json"]
    rounds_of(Command(words, {"LEASEHOLD_DATABASE_URL": fresh_database_url}))
    assert (
        psql(fresh_database_url, "select count(*) from leasehold.jobs j join leasehold.finished_jobs f using (id)")
        == "0"
    )
    assert psql(fresh_database_url, "select count(*) from leasehold.audit_jobs()") == "0"


@pytest.mark.parametrize("actor", ["worker", "scheduler", "reaper"])
def test_an_actor_ends_in_order(fresh_database_url: str, actor: str) -> None:
    environ = {**QUICK_FILE, "LEASEHOLD_DATABASE_URL": fresh_database_url}
    rounds_of(Command(["run", actor], environ, until=f"running {actor}", after_term=[0]))


def test_the_gateway_ends_in_order(fresh_database_url: str) -> None:
    environ = {**QUICK_FILE, "LEASEHOLD_DATABASE_URL": fresh_database_url}
    rounds_of(Command(["gateway"], environ, until="gateway serves", after_term=[0]))


def test_up_leaves_neither_processes_nor_postgres() -> None:
    rounds_of(Command(["up"], QUICK_FILE, until="leasehold is up", after_term=[0]))


if IS_LONG:  # else test_demo.py does it at three chosen moments

    def test_the_demo_leaves_neither_processes_nor_postgres() -> None:
        rounds_of(Command(["demo"], {}), rounds=max(2, ROUNDS // 3))  # each is as long as a demo
