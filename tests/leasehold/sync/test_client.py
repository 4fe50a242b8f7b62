"""The synchronous client on connections of its own."""

from __future__ import annotations

import inspect
import select
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import psycopg
import pytest
import trio

from leasehold import App, Client, EnqueuedJob, Job, NewJob, Unique
from leasehold.client.nouns.chains import Chains
from leasehold.errors import (
    BadInput,
    ClientClosed,
    DatabaseUnavailable,
    InvalidArgs,
    UniqueConflict,
    UnknownJob,
    UnknownKind,
    WrongState,
)
from leasehold.events import Event, JobCancelled, JobCreated, JobRequeued
from leasehold.sync.chains import SyncChains
from leasehold.sync.client import SyncClient
from tests.support.processes import clean_environment
from tests.support.waiting import PATIENCE, until

app = App()


@app.kind(queue="mail", priority=4, max_attempts=3, unique=Unique(by=["kind", "args.name"], on_conflict="existing"))
def greet(job: Job, name: str) -> str:
    return name


def test_a_job_is_enqueued_looked_at_cancelled_and_retried(client: SyncClient) -> None:
    at = datetime.now(UTC) + timedelta(hours=1)
    job_id = client.enqueue("greet", {"name": "Ada"}, queue="it's", run_at=at, key="ключ", metadata={"by": "test"})
    job = client.get(job_id)
    assert (job.state, job.kind, job.queue, job.key, job.args) == (
        "scheduled",
        "greet",
        "it's",
        "ключ",
        {"name": "Ada"},
    )
    assert (job.metadata, job.run_at, job.run_at.tzinfo) == ({"by": "test"}, at, UTC)
    assert client.cancel(job_id, "not needed") == "scheduled"
    assert client.get(job_id).error["message"] == "not needed"
    assert client.retry(job_id) == "pending"
    with pytest.raises(WrongState):
        client.retry(job_id)


def test_the_defaults_of_a_kind_hold_and_its_args_are_checked(database_url: str) -> None:
    with SyncClient(database_url, app=app) as client:
        for given in (greet.new("Ada"), NewJob(kind="greet", args={"name": "Bob"})):
            job = client.get(client.enqueue(given))
            assert (job.queue, job.priority, job.max_attempts) == ("mail", 4, 3)
        assert client.enqueue(greet.new("Ada")) == 1
        assert client.get(client.enqueue(greet.new("Cem"), queue="other")).queue == "other"
        with pytest.raises(InvalidArgs, match="greet"):
            client.enqueue("greet", {"name": 1})
        with pytest.raises(UnknownKind, match="gret"):
            client.enqueue("gret", {"name": "Ada"})
        assert client.get(client.enqueue("echo", {"whatever": [1]})).args == {"whatever": [1]}
        assert client.enqueue_with_outcomes([NewJob(kind="greet", args={"name": "Ada"})]) == [
            EnqueuedJob(1, False, "existing")
        ]


def test_many_jobs_are_all_or_none_and_answered_in_their_order(client: SyncClient) -> None:
    blocked: NewJob[None] = NewJob(kind="b", blockers=[NewJob(kind="first")])
    made = client.enqueue_many([NewJob(kind="a"), blocked, NewJob(kind="c")])
    assert [client.get(job_id).kind for job_id in made] == ["a", "b", "c"]
    assert client.enqueue_many([]) == []
    with pytest.raises(BadInput, match="job 2"):
        client.enqueue_many([NewJob(kind="x"), NewJob(kind="")])
    with pytest.raises(BadInput, match="give a list of jobs"):
        client.enqueue_many(cast("Any", NewJob(kind="x")))
    assert len(client.chains.list()) == 4


def test_no_password_is_shown() -> None:
    client = SyncClient("postgresql://ada:secret@host/db")
    assert "secret" not in repr(client._core)  # pyright: ignore[reportPrivateUsage]


def test_a_conflict_names_the_job_that_is_there(client: SyncClient) -> None:
    job: NewJob[None] = NewJob(kind="alone", unique=Unique(by=["kind"], on_conflict="reject"))
    first = client.enqueue(job)
    with pytest.raises(UniqueConflict) as raised:
        client.enqueue(job)
    assert raised.value.job_id == first


def test_what_is_not_there_is_said(client: SyncClient) -> None:
    for ask in (client.get, client.cancel, client.retry, client.wait, client.chains.get, client.chains.jobs):
        with pytest.raises(UnknownJob, match="7"):
            ask(7)
    with pytest.raises(BadInput, match="whole number"):
        client.get(cast("Any", "7"))


def test_events_are_told_of_what_our_own_connections_do(client: SyncClient) -> None:
    heard: list[Event] = []
    for kind in (JobCreated, JobCancelled, JobRequeued):
        client.subscribe(kind, heard.append)
    job_id = client.enqueue("greet")
    client.cancel(job_id)
    client.retry(job_id)
    assert [type(each) for each in heard] == [JobCreated, JobCancelled, JobRequeued]
    with client.transaction() as connection:
        client.enqueue("greet", connection=connection)
    assert len(heard) == 3


def test_rows_and_jobs_share_a_commit_on_a_connection_of_ours(client: SyncClient) -> None:
    with client.transaction() as connection:
        connection.execute("create temporary table orders (id integer)")
        kept = client.enqueue("greet", connection=connection)
        with pytest.raises(UnknownJob):
            client.get(kept)
    with pytest.raises(psycopg.errors.DivisionByZero):
        enqueue_and_fail(client)
    assert [each.chain_id for each in client.chains.list()] == [kept]


def enqueue_and_fail(client: SyncClient) -> None:
    with client.transaction() as connection:
        client.enqueue("greet", connection=connection)
        connection.execute("select 1 / 0")


def test_threads_share_a_client(client: SyncClient) -> None:
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(client.enqueue, ["greet"] * 40))
    assert len(set(made)) == 40


def test_a_client_goes_on_when_the_server_has_ended_its_connections(client: SyncClient, database_url: str) -> None:
    client.enqueue("greet")
    with client.transaction() as connection:
        number = connection.fileno()
    with psycopg.connect(database_url, autocommit=True) as other:
        found = other.execute(
            "select pg_terminate_backend(pid, 30000) from pg_stat_activity"
            " where datname = current_database() and application_name = 'leasehold' and pid <> pg_backend_pid()"
        ).fetchall()
    assert found == [(True,)]
    assert select.select([number], [], [], PATIENCE)[0]  # the news of its end may come a moment after it
    assert client.enqueue("greet") == 2


def test_a_client_that_was_closed_or_whose_block_has_ended_says_so(database_url: str) -> None:
    closed, unused = SyncClient(database_url), SyncClient()
    closed.enqueue("greet")
    closed.close()
    unused.close()
    unused.close()
    with SyncClient(database_url) as left:
        left.enqueue("greet")
    asks: tuple[Callable[[SyncClient], object], ...] = (
        lambda client: client.enqueue("greet"),
        lambda client: client.get(1),
        lambda client: client.wait(1, timeout=5),
        lambda client: client.chains.list(),
        lambda client: client.transaction().__enter__(),
    )
    for client in (closed, unused, left):
        for ask in asks:
            with pytest.raises(ClientClosed, match="its `with` block has ended, or `close` was called") as refused:
                ask(client)
            assert not isinstance(refused.value, DatabaseUnavailable)


def test_a_call_that_waits_for_a_connection_hears_that_another_thread_closes_the_client(database_url: str) -> None:
    client = SyncClient(database_url, pool_size=1, timeout=PATIENCE)
    with ThreadPoolExecutor(1) as threads, client.transaction():
        waiting = threads.submit(client.get, 1)
        pool = cast("Any", client)._core.database._pool
        trio.run(until, lambda: pool.get_stats()["requests_waiting"] == 1)
        client.close()
        with pytest.raises(ClientClosed):
            waiting.result(PATIENCE)


def test_a_closed_client_enqueues_on_a_connection_of_the_callers(database_url: str) -> None:
    client = SyncClient(database_url)
    client.close()
    with psycopg.connect(database_url) as connection:
        assert client.enqueue("greet", connection=connection) == 1


def test_a_database_that_is_away_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with SyncClient("postgresql://nobody@127.0.0.1:1/none", timeout=0.1) as client:
        with pytest.raises(DatabaseUnavailable):
            client.get(1)
        with pytest.raises(DatabaseUnavailable):
            client.wait(1)


def test_without_a_dsn_the_settings_say_which_database(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    monkeypatch.setenv("LEASEHOLD_DATABASE_URL", database_url)
    with SyncClient() as client:
        assert client.get(client.enqueue("greet")).kind == "greet"


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg_pool", None)
    with pytest.raises(BadInput, match=r"pip install 'leasehold\[psycopg\]'"):
        SyncClient("").enqueue("greet")


FORKS = """
import os, sys
from leasehold.errors import ClientClosed
from leasehold.sync import Client
client = Client(sys.argv[1])
client.enqueue("parent")
child = os.fork()
client.enqueue("child" if child == 0 else "parent")
if child == 0:
    client.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
client.enqueue("parent")
client.close()
child = os.fork()
try:
    client.enqueue("closed")
except ClientClosed:
    os._exit(0 if child == 0 else os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os._exit(1)
"""


def test_a_process_that_forks_shares_no_connection_with_its_child_but_the_end_of_a_client(
    database_url: str, client: SyncClient
) -> None:
    subprocess.run(
        [sys.executable, "-c", FORKS, database_url], check=True, env=clean_environment({}), timeout=PATIENCE * 2
    )
    assert sorted(str(each.kind) for each in client.chains.list()) == ["child", "parent", "parent", "parent"]


@pytest.mark.parametrize(("ours", "awaited"), [(SyncClient, Client), (SyncChains, Chains)])
def test_what_both_clients_have_takes_the_same_arguments(ours: type, awaited: type) -> None:
    shared = [name for name in vars(ours).keys() & vars(awaited).keys() if not name.startswith("_")]
    assert shared
    for name in shared:
        if inspect.isfunction(vars(ours)[name]) and name != "transaction":
            assert list(inspect.signature(vars(ours)[name]).parameters) == list(
                inspect.signature(vars(awaited)[name]).parameters
            )


@pytest.mark.parametrize("part", [SyncClient, SyncChains])
def test_every_method_says_what_it_does(part: type) -> None:
    public = {name: each for name, each in inspect.getmembers(part) if not name.startswith("_")}
    assert [name for name, each in public.items() if not (each.__doc__ or "").strip()] == []
