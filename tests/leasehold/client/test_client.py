from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import asyncpg
import pytest
import sqlalchemy
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from leasehold import App, Client, EnqueuedJob, NewJob, open_client
from leasehold.database import Database, open_database
from leasehold.errors import (
    BadInput,
    DatabaseUnavailable,
    InvalidArgs,
    LeaseholdError,
    NoTransaction,
    UnknownJob,
    UnknownKind,
    WrongState,
)
from leasehold.jobs.middleware import EnqueueNext
from leasehold.jobs.new_job import Unique
from tests.leasehold.client.conftest import with_client
from tests.support.flavours import in_flavour, under_asyncio


def shop() -> App:
    app = App()

    @app.kind(queue="mail", priority=4)
    async def greet(name: str) -> str:
        return name

    return app


@with_client()
async def test_a_job_is_enqueued_looked_at_and_cancelled_in_either_flavour(client: Client) -> None:
    at = datetime.now(UTC) + timedelta(hours=1)
    job_id = await client.enqueue(
        "greet",
        {"name": "Ada"},
        queue="it's",
        priority=-2,
        run_at=at,
        key="ключ",
        max_attempts=3,
        metadata={"by": "test"},
    )
    job = await client.get(job_id)
    assert (job.state, job.kind, job.queue, job.priority, job.key) == ("scheduled", "greet", "it's", -2, "ключ")
    assert (job.args, job.metadata, job.run_at, job.max_attempts) == ({"name": "Ada"}, {"by": "test"}, at, 3)
    assert [(c.queue, c.state, c.jobs) for c in await client.metrics.counts()] == [("it's", "scheduled", 1)]
    assert [each.id for each in await client.jobs.list(queue="it's", state="scheduled", kind="greet", key="ключ")] == [
        job_id
    ]
    assert await client.jobs.list(queue="its") == []
    assert await client.cancel(job_id, "not needed") == "scheduled"
    assert (await client.get(job_id)).error["message"] == "not needed"
    assert [entry.event for entry in await client.jobs.timeline(job_id)] == ["created", "cancelled"]
    assert await client.retry(job_id) == "pending"


@with_client()
async def test_many_jobs_are_all_or_none_and_answered_in_their_order(client: Client) -> None:
    made = await client.enqueue_many([NewJob(kind="greet", priority=n) for n in (1, 3, 2)])
    assert [(await client.get(job_id)).priority for job_id in made] == [1, 3, 2]
    with pytest.raises(BadInput, match="job 2"):
        await client.enqueue_many([NewJob(kind="greet"), NewJob(kind="")])
    assert len(await client.jobs.list()) == 3
    assert await client.enqueue_many([]) == []


@with_client()
async def test_an_idempotency_key_makes_one_job_however_often_it_is_used(client: Client) -> None:
    job = NewJob(kind="greet", idempotency_key="order 7")
    [first], [again] = [await client.enqueue_with_outcomes([job]) for _ in range(2)]
    assert (first, again) == (EnqueuedJob(1, True), EnqueuedJob(1, False, "existing"))
    assert await client.enqueue("greet", idempotency_key="order 7") == 1


def test_with_an_app_wrong_kinds_and_args_are_refused_before_anything_is_written(database_url: str, under: Any) -> None:
    app = shop()

    async def work(client: Client) -> None:
        with pytest.raises(UnknownKind, match="gret"):
            await client.enqueue("gret", {"name": "Ada"})
        for args in ({}, {"name": 1}, {"name": "Ada", "more": 1}):
            with pytest.raises(InvalidArgs, match="greet"):
                await client.enqueue("greet", args)
            with pytest.raises(InvalidArgs, match="greet"):
                await client.enqueue(NewJob(kind="greet", args=args))
        assert await client.jobs.list() == []
        job = await client.get(await client.enqueue(app.find("greet").new("Ada"), priority=9))
        assert (job.queue, job.priority, job.args) == ("mail", 9, {"name": "Ada"})

    under(work, app=app)


SENSELESS: list[tuple[dict[str, Any], str]] = [
    ({"run_at": datetime(2030, 1, 1)}, "time zone"),
    ({"delay": -1}, "delay"),
    ({"delay": float("nan")}, "delay"),
    ({"delay": float("inf")}, "delay"),
    ({"max_attempts": 0}, "max_attempts"),
    ({"queue": ""}, "queue"),
    ({"queue": "x" * 201}, "queue"),
    ({"key": "a\x00b"}, "Unicode"),
    ({"metadata": {"a": float("nan")}}, "metadata"),
    ({"priority": 2**40}, "integer"),
    ({"args": {"a": "\x00"}}, "u0000"),
    ({"args": {"a": "x" * 1_100_000}}, "1048576"),
    ({"args": [1]}, "object|mapping"),
]


@under_asyncio
async def test_fields_that_make_no_sense_are_refused_with_their_name(database_url: str) -> None:
    async with open_client(database_url) as client:
        for fields, complaint in SENSELESS:
            with pytest.raises(BadInput, match=complaint):
                await client.enqueue_many([NewJob(kind="greet", **fields)])
        assert await client.jobs.list() == []


async def test_args_are_given_once(database_url: str) -> None:
    async with open_client(database_url) as client:
        with pytest.raises(BadInput, match="has its own"):
            await client.enqueue(NewJob(kind="greet"), {"name": "Ada"})


@with_client()
async def test_what_does_not_exist_or_cannot_be_done_says_so(client: Client) -> None:
    for ask in (client.get, client.jobs.timeline, client.cancel, client.retry):
        with pytest.raises(UnknownJob, match="7"):
            await ask(7)
    job_id = await client.enqueue("greet")
    with pytest.raises(WrongState):
        await client.retry(job_id)
    with pytest.raises(BadInput):
        await client.jobs.list(state="sleeping")
    with pytest.raises(BadInput):
        await client.jobs.recover_stale(0)


@with_client()
async def test_queues_are_paused_and_resumed_once(client: Client) -> None:
    assert await client.queues.pause("mail", "flood") is True
    assert await client.queues.pause("mail") is False
    assert await client.queues.resume("mail") is True
    assert await client.queues.resume("mail") is False
    await client.queues.wake()
    await client.queues.wake("mail")
    await client.ping()
    assert await client.workers.list() == []
    assert await client.jobs.recover_stale(1) == 0


@under_asyncio
async def test_a_connection_that_has_begun_no_transaction_is_refused(database_url: str) -> None:
    """SQLAlchemy begins at its first statement: a job enqueued before that would outlive the rollback."""
    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=lambda: cast("Any", asyncpg).connect(database_url),
        poolclass=NullPool,
    )
    async with open_client(database_url) as client:
        async with engine.connect() as connection, connection.begin() as transaction:
            raw = (await connection.get_raw_connection()).driver_connection
            with pytest.raises(NoTransaction, match="SQLAlchemy begins at its first statement"):
                await client.enqueue("greet", connection=raw)
            await connection.execute(sqlalchemy.text("select 1"))
            await client.enqueue("greet", connection=raw)
            await transaction.rollback()
        assert await client.jobs.list() == []


@pytest.mark.parametrize("flavour", ["trio", "asyncio"])
def test_a_database_that_is_away_says_so_at_the_first_use(flavour: str) -> None:
    async def main() -> None:
        async with open_client("postgresql://nobody@127.0.0.1:1/none") as client:
            await client.enqueue("greet")

    with pytest.raises(DatabaseUnavailable):
        in_flavour(flavour, main)


async def test_args_that_somebody_wrote_by_sql_can_be_looked_at_whatever_they_are(database_url: str) -> None:
    async with open_client(database_url) as client, open_database(database_url) as database:
        await database.fetch(
            "insert into leasehold.jobs (created_at, run_at, state, kind, queue, args) values"
            " (now(), now(), 'pending', 'greet', 'default', '[1]'),"
            " (now(), now(), 'pending', 'greet', 'default', '{\"n\": 1e5000}'),"
            " (now(), now(), 'pending', 'greet', 'default', (repeat('[', 3000) || repeat(']', 3000))::jsonb)"
        )
        deep, large, plain = await client.jobs.list()
        assert plain.args == [1]
        assert str(large.args).startswith('{"n": 1000')
        assert str(deep.args).startswith("[[[")


async def test_a_job_by_name_gets_what_its_kind_declares_unless_it_says_otherwise(database: Database) -> None:
    app = App()

    @app.kind(queue="mail", priority=7)
    async def send() -> None: ...

    client = Client(database, app=app)
    declared = await client.get(await client.enqueue("send"))
    assert (declared.queue, declared.priority) == ("mail", 7)
    said = await client.get(await client.enqueue("send", queue="other", priority=0))
    assert (said.queue, said.priority) == ("other", 0)


async def test_a_kind_in_the_place_of_a_job_is_told_how_to_become_one(database: Database) -> None:
    app = shop()
    greet: Any = app.find("greet")
    with pytest.raises(BadInput, match=r"did you mean greet\.new\(…\)\?"):
        await Client(database, app=app).enqueue(greet)
    with pytest.raises(BadInput, match=r"did you mean greet\.new\(…\)\?"):
        await Client(database, app=app).enqueue(greet, {"name": "Ada"})
    with pytest.raises(BadInput, match=r"did you mean greet\.new\(…\)\?"):
        await Client(database, app=app).enqueue_many([greet])


async def test_many_jobs_are_a_list_of_jobs(database: Database) -> None:
    client, job = Client(database), cast("Any", NewJob(kind="greet"))
    wrong: list[Any] = [job, "greet", None, 5]
    for jobs in wrong:
        with pytest.raises(BadInput, match="give a list of jobs"):
            await client.enqueue_many(jobs)
    with pytest.raises(BadInput, match=r"enqueue_many takes jobs made by kind\.new\(\.\.\.\), not 'echo'"):
        await client.enqueue_many([job, cast("Any", "echo")])
    assert await client.jobs.list() == []


async def test_a_deadline_in_seconds_counts_from_the_enqueue(database: Database) -> None:
    client = Client(database)
    await client.enqueue("greet", deadline=12)
    rows = await database.fetch("select extract(epoch from deadline - created_at)::float8 as after from leasehold.jobs")
    assert [row["after"] for row in rows] == [pytest.approx(12)]


async def test_a_client_with_an_app_takes_the_kinds_that_every_worker_has(database: Database) -> None:
    client = Client(database, app=shop())
    echoed = await client.get(await client.enqueue("echo", {"whatever": [1]}))
    assert (echoed.kind, echoed.args) == ("echo", {"whatever": [1]})
    await client.enqueue("dummy", {"seconds": 0.5})
    with pytest.raises(InvalidArgs, match="dummy"):
        await client.enqueue("dummy", {"second": 1})
    with pytest.raises(UnknownKind, match="gret"):
        await client.enqueue("gret")


async def test_without_a_dsn_the_settings_say_which_database(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    async with open_client() as client:
        with pytest.raises(DatabaseUnavailable):
            await client.enqueue("greet")
    monkeypatch.setenv("LEASEHOLD_DATABASE_URL", database_url)
    async with open_client() as client:
        assert (await client.get(await client.enqueue("greet"))).kind == "greet"


async def test_an_enqueue_middleware_that_does_not_take_the_jobs_and_what_comes_next_is_refused(
    database: Database,
) -> None:
    async def without_the_jobs(call_next: Any) -> Any:
        return await call_next()

    with pytest.raises(BadInput, match=r"without_the_jobs takes .* two arguments, the jobs and call_next$"):
        Client(database).enqueue_middleware(cast("Any", without_the_jobs))


async def test_an_enqueue_middleware_that_forgets_to_return_is_named(database: Database) -> None:
    async def stamp(jobs: Sequence[NewJob], call_next: EnqueueNext) -> list[EnqueuedJob]:
        return await call_next([job.but(metadata={"by": "web"}) for job in jobs])

    async def forgetful(jobs: Sequence[NewJob], call_next: EnqueueNext) -> Any:
        await call_next(jobs)

    client = Client(database)
    client.enqueue_middleware(stamp)
    assert (await client.get(await client.enqueue("greet"))).metadata == {"by": "web"}
    client.enqueue_middleware(forgetful)
    with pytest.raises(LeaseholdError, match=r"enqueue middleware .*forgetful returned None; .* Have it return what"):
        await client.enqueue("greet")


async def test_each_key_gets_a_job(database: Database) -> None:
    client = Client(database)
    for key in ("a", "b"):
        await client.enqueue("crawl", key=key, metadata={"region": "AZ"})
    job: NewJob[None] = NewJob(kind="refresh", args={"x": 1}, unique=Unique(by=["kind", "key"]))
    made = await client.jobs.enqueue_for_keys(job, kind="crawl", metadata={"region": "AZ"})
    assert [(each.key, each.is_new) for each in made] == [("a", True), ("b", True)]
    again = await client.jobs.enqueue_for_keys(job, keys=["b"])
    assert [(each.job_id, each.is_new) for each in again] == [(made[1].job_id, False)]
    with pytest.raises(BadInput, match="no key, no idempotency_key"):
        await client.jobs.enqueue_for_keys(NewJob(kind="refresh", key="k"))
