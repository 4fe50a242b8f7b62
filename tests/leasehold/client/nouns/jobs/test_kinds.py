from __future__ import annotations

from typing import Any

import msgspec
import pytest

from leasehold import App, Client, NewJob, open_client
from leasehold.client.convoy import Convoy
from leasehold.database import Database
from leasehold.errors import BadInput, NotFound, WrongState
from leasehold.notify.doorbell import Doorbell
from tests.leasehold.client.conftest import with_client


def shop(queue: str = "orders", version: str = "1") -> App:
    app = App(version=version)

    @app.kind(queue=queue, max_attempts=5, key="args.order_id")
    async def charge(order_id: int, note: str = "") -> str: ...

    assert charge.name == "charge"
    return app


@with_client()
async def test_an_app_is_declared_listed_and_one_kind_shown(client: Client) -> None:
    [synced] = await client.kinds.sync(shop(), name="shop:app")
    assert (synced.kind, synced.outcome) == ("charge", "created")
    [listed] = await client.kinds.list()
    shown = await client.kinds.get("charge")
    assert listed == shown
    assert (shown.queue, shown.max_attempts, shown.key, shown.app, shown.app_version) == (
        "orders", 5, "args.order_id", "shop:app", "1",
    )  # fmt: skip
    assert shown.args_schema is not None
    assert (shown.args_schema["required"], shown.output_schema) == (["order_id"], {"type": "string"})
    with pytest.raises(NotFound, match="no app has declared a kind 'nobody'"):
        await client.kinds.get("nobody")


@with_client()
async def test_two_versions_that_disagree_are_shown_and_the_one_that_is_synced_wins(client: Client) -> None:
    await client.kinds.sync(shop("old", "1"), name="shop:app")
    await client.kinds.sync(shop("new", "2"), name="shop:app")
    assert [each.outcome for each in await client.kinds.sync(shop("old", "1"), name="shop:app", is_newest=False)] == [
        "older"
    ]
    shown = await client.kinds.get("charge")
    assert (shown.queue, [(each.app_version, each.fields) for each in shown.conflicts]) == (
        "new",
        [("1", ["queue"])],
    )
    await client.kinds.sync(shop("old", "1"), name="shop:app")
    assert (await client.kinds.get("charge")).queue == "old"


@with_client()
async def test_a_client_without_the_app_gets_the_defaults_of_the_catalogue_and_is_refused_what_does_not_fit(
    client: Client,
) -> None:
    await client.kinds.sync(shop(), name="shop:app")
    job = await client.get(await client.enqueue("charge", {"order_id": 7}))
    assert (job.queue, job.max_attempts, job.key) == ("orders", 5, "7")
    with pytest.raises(
        BadInput, match=r"args do not fit charge as version 1 takes them: args\.order_id must be integer"
    ):
        await client.enqueue("charge", {"order_id": "x"})


async def test_a_client_with_the_app_sends_its_own_values_and_says_that_they_are_checked(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await Client(database).kinds.sync(shop("new", "2"), name="shop:app")
    calls: list[tuple[Any, ...]] = []
    call = Database.call

    async def record(self: Database, function: str, *args: Any, **named: Any) -> Any:
        calls.append((function, *args[1:]))
        return await call(self, function, *args, **named)

    monkeypatch.setattr(Database, "call", record)
    made = await Client(database, app=shop("old", "1")).enqueue("charge", {"order_id": 7})
    monkeypatch.undo()
    assert calls == [("enqueue_jobs", True, False)]
    assert (await Client(database).get(made)).queue == "old"


async def test_where_the_catalogue_may_choose_the_queue_the_statement_wakes_workers_itself(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[Any, ...]] = []
    rings: list[set[str]] = []

    async def record(_convoy: Convoy, _document: str, notify: bool, is_checked: bool) -> dict[str, Any]:
        calls.append((notify, is_checked))
        return {"job_id": 1, "is_new": True, "outcome": "created"}

    monkeypatch.setattr(Convoy, "enqueue", record)

    def take_over(_doorbell: Doorbell) -> bool:
        return False

    def ring(_doorbell: Doorbell, queues: set[str]) -> None:
        rings.append(queues)

    monkeypatch.setattr(Doorbell, "take_over", take_over)
    monkeypatch.setattr(Doorbell, "ring", ring)
    async with open_client(database.dsn) as client, open_client(database.dsn, app=shop()) as knowing:
        await client.enqueue("charge", {"order_id": 7})
        await client.enqueue("charge", {"order_id": 7}, queue="mine")
        await knowing.enqueue("charge", {"order_id": 7})
    assert calls == [(True, False), (False, False), (False, True)]
    assert rings == [{"mine"}, {"orders"}]


@with_client()
async def test_a_kind_is_dropped_once_no_job_needs_it(client: Client) -> None:
    await client.kinds.sync(shop())
    made = await client.enqueue("charge", {"order_id": 7})
    with pytest.raises(WrongState, match=f"job {made} has not ended"):
        await client.kinds.drop("charge")
    await client.cancel(made)
    await client.kinds.drop("charge")
    with pytest.raises(NotFound, match="nothing to drop"):
        await client.kinds.drop("charge")


@pytest.mark.parametrize("with_app", [False, True])
async def test_a_job_that_says_so_takes_any_args_with_and_without_an_app(database: Database, with_app: bool) -> None:
    app = shop()
    async with open_client(database.dsn, app=app if with_app else None) as client:
        await client.kinds.sync(app)
        strict = NewJob(kind="charge", args={"order_id": "x"})
        with pytest.raises(BadInput, match="order_id"):
            await client.enqueue(strict)
        job = await client.get(await client.enqueue(msgspec.structs.replace(strict, check_args=False)))
        assert (job.queue, job.key, job.args) == ("orders", "x", {"order_id": "x"})
