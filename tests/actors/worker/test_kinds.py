from __future__ import annotations

import pytest

from leasehold.actors.worker.kinds import check_identities, declare_kinds, kinds_with_egress
from leasehold.app import App
from leasehold.app.registry import with_builtins
from leasehold.database import Database
from leasehold.errors import NoIdentities
from tests.support.sql_identities import add, take


def an_app() -> App:
    app = App()

    @app.kind(queue="crawl", egress=True)
    async def fetch() -> None: ...

    @app.kind(egress=True)
    async def look() -> None: ...

    @app.kind(queue="mail")
    async def send() -> None: ...

    return app


def test_only_the_kinds_of_its_own_queues_count() -> None:
    app = an_app()
    assert kinds_with_egress(app, ()) == ["fetch", "look"]
    assert kinds_with_egress(app, ("crawl",)) == ["fetch"]
    assert kinds_with_egress(app, ("default", "mail")) == ["look"]
    assert kinds_with_egress(app, ("mail",)) == []


async def test_without_identities_a_worker_that_needs_them_is_refused(database: Database) -> None:
    with pytest.raises(NoIdentities, match="serves fetch with egress=True, and there is no egress identity"):
        await check_identities(database, an_app(), ("crawl",))
    await check_identities(database, an_app(), ("mail",))
    await add(database)
    await take(database)
    await check_identities(database, an_app(), ("crawl",))
    await database.call("retire_identity", "one")
    with pytest.raises(NoIdentities):
        await check_identities(database, an_app(), ("crawl",))


async def test_a_worker_declares_its_own_kinds_and_not_those_that_every_worker_has(database: Database) -> None:
    await declare_kinds(database, with_builtins(an_app()), "shop:app", "7")
    rows = await database.call("list_kinds")
    assert [(row["kind"], row["queue"], row["app"], row["app_version"]) for row in rows] == [
        ("fetch", "crawl", "shop:app", "7"),
        ("look", None, "shop:app", "7"),
        ("send", "mail", "shop:app", "7"),
    ]


async def test_a_worker_starts_also_where_the_catalogue_cannot_be_written(
    fresh_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await fresh_database.execute("drop function leasehold.declare_kinds")
    await declare_kinds(fresh_database, an_app(), None, None)
    assert "the catalogue of kinds stays as it is" in caplog.text
