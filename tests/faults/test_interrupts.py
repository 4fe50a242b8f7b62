"""Ctrl-C and SIGTERM at random moments of commands. LEASEHOLD_INTERRUPTS=200 is the long form; -s shows the counts."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Sequence
from contextlib import contextmanager

import pytest
import trio

from leasehold.database.migrations import migrate, schema_state
from tests.conftest import Psql
from tests.support.folders import short_folder
from tests.support.interrupts import Command, Interrupted, interrupt, interrupted_rounds, span_of, tell
from tests.support.servers import Server, new_database
from tests.support.waiting import eventually

pytestmark = pytest.mark.acceptance

ROUNDS = int(os.environ.get("LEASEHOLD_INTERRUPTS", "3"))
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


@contextmanager
def server_database(server: Server, *, migrated: bool) -> Generator[str]:
    with new_database(server, "template0", "leasehold_interrupted") as dsn:
        if migrated:
            trio.run(migrate, dsn)
        yield dsn


def rounds_of(
    command: Command, number: signal.Signals, also: Sequence[int] = (), rounds: int = ROUNDS
) -> list[Interrupted]:
    """The command interrupted at one moment after the other; fails, saying how to repeat it, if one end is wrong."""
    with short_folder() as folder:
        span = span_of(command, folder)

    def play(moment: float) -> Interrupted:
        with short_folder() as folder:
            played = interrupt(command, moment, number, folder)
            if not played.fault(number, also):
                assert not list(folder.glob("leasehold-*")), "temporary folders were left"
            return played

    done = interrupted_rounds(span, rounds, SEED, play)
    counts = f"leasehold {' '.join(command.words)}, {number.name}, seed {SEED}, {span:.1f} s long: {tell(done, number, also)}"
    print(counts)
    faults = [
        f"after {each.moment:.3f} s: {fault}\n{each.said}" for each in done if (fault := each.fault(number, also))
    ]
    assert not faults, "\n".join([counts, *faults])
    return done


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_migration_is_done_or_undone(postgres_server: Server, psql: Psql, number: signal.Signals) -> None:
    with short_folder() as folder, server_database(postgres_server, migrated=False) as dsn:
        span = span_of(Command(["migrate"], {"LEASEHOLD_DATABASE_URL": dsn}), folder)

    def play(moment: float) -> Interrupted:
        with short_folder() as folder, server_database(postgres_server, migrated=False) as dsn:
            played = interrupt(Command(["migrate"], {"LEASEHOLD_DATABASE_URL": dsn}), moment, number, folder)
            assert trio.run(schema_state, dsn).status in {"missing", "same"}
            trio.run(until_nobody_is_connected, psql, dsn)
            return played

    done = interrupted_rounds(span, ROUNDS, SEED, play)
    print(f"leasehold migrate, {number.name}, seed {SEED}, {span:.1f} s long: {tell(done, number)}")
    assert [fault for each in done if (fault := each.fault(number))] == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_retry_of_many_jobs_is_done_or_undone(postgres_server: Server, psql: Psql, number: signal.Signals) -> None:
    with server_database(postgres_server, migrated=True) as dsn:
        psql(dsn, FAILED_JOBS)
        words = ["jobs", "retry", "--failed", "--yes", "--output", "json"]
        rounds_of(Command(words, {"LEASEHOLD_DATABASE_URL": dsn}), number)
        assert psql(dsn, "select count(*) from leasehold.jobs j join leasehold.finished_jobs f using (id)") == "0"
        assert psql(dsn, "select count(*) from leasehold.audit_jobs()") == "0"


@pytest.mark.parametrize(("number", "also"), [(signal.SIGINT, ()), (signal.SIGTERM, (0,))])
@pytest.mark.parametrize("actor", ["worker", "scheduler", "reaper"])
def test_an_actor_ends_in_order(
    postgres_server: Server, actor: str, number: signal.Signals, also: Sequence[int]
) -> None:
    with server_database(postgres_server, migrated=True) as dsn:
        environ = {**QUICK_FILE, "LEASEHOLD_DATABASE_URL": dsn}
        rounds_of(Command(["run", actor], environ, until=f"running {actor}"), number, also)


@pytest.mark.parametrize(("number", "also"), [(signal.SIGINT, ()), (signal.SIGTERM, (0,))])
def test_the_gateway_ends_in_order(postgres_server: Server, number: signal.Signals, also: Sequence[int]) -> None:
    with server_database(postgres_server, migrated=True) as dsn:
        environ = {**QUICK_FILE, "LEASEHOLD_DATABASE_URL": dsn}
        rounds_of(Command(["gateway"], environ, until="gateway serves"), number, also)


@pytest.mark.parametrize(("number", "also"), [(signal.SIGINT, ()), (signal.SIGTERM, (0,))])
def test_up_leaves_neither_processes_nor_postgres(number: signal.Signals, also: Sequence[int]) -> None:
    rounds_of(Command(["up"], QUICK_FILE, until="leasehold is up"), number, also)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_demo_leaves_neither_processes_nor_postgres(number: signal.Signals) -> None:
    rounds_of(Command(["demo"], {}), number, rounds=max(1, ROUNDS // 3))  # each is as long as a demo
