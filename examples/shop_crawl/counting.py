"""What the crawl has done, held against what the shops know to be true."""

from __future__ import annotations

from collections.abc import Mapping

from examples.backstage import Backstage

from .catalogue import Changes, Product, Truth, compare
from .handlers import Payload, of_store, product_refresh
from .server import ShopApi

FOUND = """
select (select count(*)::int from crawl.stores) as stores,
       (select count(*)::int from crawl.products where not is_missing) as products,
       (select sum(cents)::int from crawl.products where not is_missing) as cents,
       (select sum(stock)::int from crawl.products where not is_missing) as stock,
       (select sum(sightings)::int from crawl.products) as sightings,
       (select count(*)::int from crawl.price_history) as prices,
       (select count(*)::int from crawl.products where is_missing) as missing,
       (select count(*)::int from crawl.images) as pictures,
       (select count(*)::int from crawl.stores where platform_id is null or last_fetch_at is null) as unfetched
"""
SUMMARY = "select sum(stores)::int as stores, sum(products)::int as products, sum(cents)::int as cents from crawl.state_summary"
ENDED = """
select (select count(*)::int from leasehold.finished_jobs where queue = 'crawl' and state = 'completed') as completed,
       (select count(*)::int from leasehold.finished_jobs where queue = 'crawl' and state <> 'completed') as failed,
       (select count(*)::int from leasehold.job_events where event = 'reaped') as reaped,
       (select count(*)::int from leasehold.job_events where event = 'attempt_failed') as retried,
       (select count(*)::int from leasehold.payloads) as payloads,
       (select sum(refusals_total)::int from leasehold.egress_identities) as refusals
"""
PRODUCTS = "select sku, cents, stock from crawl.products order by store_id, sku"


async def count_effects(stage: Backstage, shops: ShopApi, killed: int) -> None:
    """Print what happened, and check every number against the truth."""
    async with stage.client.transaction() as tx:
        [ended], [found], [summary] = await tx.fetch(ENDED), await tx.fetch(FOUND), await tx.fetch(SUMMARY)
    truth = shops.truth()
    stage.say(
        f"{ended['completed']} jobs completed, {ended['retried']} attempts failed, {ended['reaped']} were reaped\n"
    )
    print(f"  the shops answered {shops.answers['all']} requests, {shops.answers['500']} of them with an error,")
    print(
        f"  and refused {shops.answers['403']}; {ended['refusals']} refusals cooled an identity; {ended['payloads']} payloads\n"
    )
    for name in Truth.__struct_fields__:
        stage.check(name, found[name], getattr(truth, name))
    stage.check("in the materialised view", tuple(summary), (truth.stores, truth.products, truth.cents))
    short = [max(0, getattr(truth, name) - found[name]) for name in ("stores", "products", "sightings", "prices")]
    over = [max(0, found[name] - getattr(truth, name)) for name in ("stores", "products", "sightings", "prices")]
    stage.check("killed workers", sum(each.is_killed for each in stage.troupe.workers), killed)
    stage.check("failed jobs", ended["failed"], 0)
    stage.check("stores without an entry point or a fetch", found["unfetched"], 0)
    stage.check("lost", sum(short), 0)
    stage.check("doubled", sum(over), 0)


async def compare_rounds(stage: Backstage, shops: ShopApi, before: Mapping[int, int], after: Mapping[int, int]) -> None:
    """Compare the payloads of two rounds, store by store: by hand, and as `client.payloads.diff` does."""
    totals: tuple[int, ...] = (0, 0, 0, 0)
    others = 0
    for store in before.keys() & after.keys():
        changes = compare(await _products(stage, before[store]), await _products(stage, after[store]))
        totals = tuple(a + b for a, b in zip(totals, changes, strict=True))
        others += changes != await _differences(stage, store, before[store], after[store])
    found = Changes(*totals)
    print(f"\n  the payloads of rounds {shops.round - 1} and {shops.round}:")
    for name in Changes.__struct_fields__:
        stage.check(name.replace("_", " "), getattr(found, name), getattr(shops.changes(), name))
    stage.check("stores that a diff counts otherwise", others, 0)


async def _differences(stage: Backstage, store: int, before: int, after: int) -> tuple[int, ...]:
    """What `leasehold payloads diff` and `/api/payloads/store/{key}/diff` answer."""
    told = await stage.client.payloads.diff(
        f"store-{store}", before, after, record_key="sku", fields=["cents", "stock"], records="products", limit=0
    )
    return tuple(told.diff[name] for name in ("added", "removed", "centsChanges", "stockChanges"))


async def replay_first_payload(stage: Backstage, first: Mapping[int, int]) -> None:
    """Refresh from a payload of the first round again: its snapshots are made anew, and no product changes."""
    store, payload = next(iter(sorted(first.items())))
    before = await _rows(stage)
    chain = await stage.client.enqueue(of_store(product_refresh.new(store, payload), store))
    products = await stage.client.wait(chain, kind=product_refresh, timeout=60)
    print(f"\n  payload {payload} of the first round, replayed: {products} products")
    stage.check("products that a replay changed", len(set(await _rows(stage)) ^ set(before)), 0)


async def _products(stage: Backstage, payload: int) -> dict[str, Product]:
    held = await stage.client.payloads.load(payload, Payload)
    return {each.sku: each for each in held.products}


async def _rows(stage: Backstage) -> list[tuple[object, ...]]:
    async with stage.client.transaction() as tx:
        return [tuple(row) for row in await tx.fetch(PRODUCTS)]
