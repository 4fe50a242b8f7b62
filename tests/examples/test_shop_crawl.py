from __future__ import annotations

from pathlib import Path

import pytest

from examples.shop_crawl.catalogue import Changes, Product, Scale, compare, find_changes, find_truth
from examples.shop_crawl.handlers import STORES, app
from examples.shop_crawl.progress import Stand, describe
from examples.shop_crawl.refreshing import normalise, refresh
from leasehold import Client
from leasehold.database import Database

SCHEMA = Path(__file__).parents[2] / "examples" / "shop_crawl" / "schema.sql"
TEA = Product(sku="1-1", name="Tea", cents=500, stock=3, image="/images/1.png")
CAKE = Product(sku="1-2", name="Cake", cents=900, stock=1, image="/images/2.png")


@pytest.fixture
async def shop(database: Database) -> Database:
    """The tables of the crawl, with one store."""
    await database.execute("drop schema if exists crawl cascade")
    await database.execute(SCHEMA.read_text())
    await database.execute("insert into crawl.stores (id, state_code, menu_url) values (1, 'AZ', '/menus/shop-1')")
    return database


async def run(shop: Database, payload: int, *products: Product) -> tuple[bool, list[str]]:
    async with shop.transaction() as tx:
        done = await refresh(tx, 1, payload, products)
    return done.is_replay, sorted(done.images)


async def products(shop: Database) -> list[tuple[object, ...]]:
    rows = await shop.fetch("select sku, cents, sightings, is_missing from crawl.products order by sku")
    return [tuple(row) for row in rows]


async def test_a_payload_becomes_products_snapshots_prices_and_images(shop: Database) -> None:
    assert await run(shop, 1, TEA, CAKE) == (False, ["/images/1.png", "/images/2.png"])
    dearer = Product(sku="1-1", name="Tea", cents=550, stock=3, image="/images/1.png")
    assert await run(shop, 2, dearer) == (False, [])
    assert await products(shop) == [("1-1", 550, 2, False), ("1-2", 900, 1, True)]
    prices = await shop.fetch("select payload_id, sku, cents from crawl.price_history order by payload_id, sku")
    assert [tuple(row) for row in prices] == [(1, "1-1", 500), (1, "1-2", 900), (2, "1-1", 550)]


async def test_a_replay_of_an_old_payload_makes_its_snapshots_anew_and_changes_no_product(shop: Database) -> None:
    await run(shop, 1, TEA, CAKE)
    await run(shop, 2, TEA)
    before = await products(shop)
    await shop.execute("delete from crawl.snapshots where payload_id = 1")
    assert await run(shop, 1, TEA, CAKE) == (True, [])
    assert await products(shop) == before
    assert len(await shop.fetch("select from crawl.snapshots where payload_id = 1")) == 2


def test_names_and_stocks_are_normalised() -> None:
    messy = Product(sku="1-1", name="  Green   Tea ", cents=5, stock=-2, image="")
    assert normalise(messy) == Product(sku="1-1", name="Green Tea", cents=5, stock=0, image="")


def test_two_rounds_are_compared_by_sku() -> None:
    dearer = Product(sku="1-1", name="Tea", cents=550, stock=2, image="")
    assert compare({"1-1": TEA, "1-2": CAKE}, {"1-1": dearer, "1-3": CAKE}) == (1, 1, 1, 1)


def test_the_truth_of_the_shops_moves_between_rounds() -> None:
    scale = Scale(4, 80)
    first, third = find_truth(scale, 1), find_truth(scale, 3)
    assert (first.stores, first.products, first.sightings, first.prices, first.missing) == (2, 160, 160, 160, 0)
    assert third.stores == 4
    assert third.missing > 0
    assert third.prices > third.products
    changes = find_changes(scale, 2, 3)
    assert min(changes.added, changes.removed, changes.price_changes, changes.stock_changes) > 0
    assert find_changes(scale, 3, 3) == Changes(0, 0, 0, 0)


def test_a_round_is_told_in_words_that_count_right() -> None:
    assert describe(Stand(0, 31, 9, 4, 2)) == "31 jobs open, 9 running, 4 waiting, 2 identities cooling"
    assert describe(Stand(49, 1, 0, 0, 1)) == "1 job open, 1 identity cooling"
    assert describe(Stand(50, 0, 0, 0, 3)) == "all jobs have ended"


def test_the_three_schedules_fire_as_often_as_the_crawl_wants_them_to() -> None:
    hours = {each["name"]: (each["every"] / 3600, each.get("priority")) for each in app.schedules}
    assert hours == {"payload_fetch_all": (4, None), "store_discovery_shop": (24, 5), "analytics_refresh": (6, None)}


async def test_the_stores_of_a_state_come_from_the_table_of_stores(shop: Database) -> None:
    await shop.execute(
        "update crawl.stores set platform_id = 7001; insert into crawl.stores (id, state_code, menu_url, platform_id)"
        " values (2, 'CA', '/menus/shop-2', 7002), (3, 'AZ', '/menus/shop-3', 7003), (4, 'AZ', '/menus/shop-4', null)"
    )
    client = Client(shop)
    await client.schedules.create_from({"kind": "payload_fetch", "name": "all", "every": 3600, "query": STORES})
    made = await client.schedules.enqueue_rows("all", metadata={"state_code": "AZ"})
    assert [each.key for each in made] == ["store-1", "store-3"]
    job = await client.get(made[1].job_id or 0)
    assert (job.kind, job.args, job.key) == ("payload_fetch", {"store": 3, "platform": 7003}, "store-3")
