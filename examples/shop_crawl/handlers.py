"""The kinds of jobs: discover stores, fetch their products into payloads, refresh the tables from payloads."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any

import msgspec

from leasehold import App, Job, NewJob, RetryPolicy
from leasehold.egress import Web

from .catalogue import Product
from .refreshing import refresh

app = App()
QUEUE = "crawl"
GROUP = "shop-api"
ADDRESS = "SHOP_API"
SOON = RetryPolicy(initial=0.2, cap=1.0)
STORES = """
    select format('store-%s', id) as key, 'shop-api' as key_group, id as store,
           platform_id as platform, jsonb_build_object('state_code', state_code) as metadata
      from crawl.stores where platform_id is not null order by id"""


class Found(msgspec.Struct, frozen=True):
    """What a discovery found: all stores, and those that are new."""

    stores: int
    new_stores: list[int]


class Payload(msgspec.Struct, frozen=True):
    """What a payload holds."""

    store: int
    products: list[Product]


class ShopFailed(Exception):
    """The API answered with an error."""


@app.schedule(name="store_discovery_shop", every=timedelta(hours=24), priority=5)
@app.kind(queue=QUEUE, egress=True, retry=SOON)
async def store_discovery(job: Job) -> Found:
    """Find the stores. Each new one gets a job of its own, in the commit that adds its row."""
    async with Web(job) as web:
        stores = [each async for each in _pages(web, "Stores")]
    async with job.complete() as tx:
        rows = await tx.fetch(
            "insert into crawl.stores (id, state_code, menu_url) select * from unnest($1::bigint[], $2::text[], $3::text[])"
            " on conflict do nothing returning id, menu_url",
            [each["id"] for each in stores],
            [each["state"] for each in stores],
            [each["menu"] for each in stores],
        )
        new = sorted((row["id"], row["menu_url"]) for row in rows)
        job.start(*(of_store(entry_point_discovery.new(store, menu), store) for store, menu in new))
    return Found(len(stores), [store for store, _ in new])


@app.kind(queue=QUEUE, egress=True, retry=SOON, priority=10)
async def entry_point_discovery(job: Job, store: int, menu: str) -> None:
    """Ask by which number the platform knows a store, then crawl it for the first time."""
    async with Web(job) as web:
        [found] = [each async for each in _pages(web, "EntryPoint", menu=menu)]
    async with job.complete() as tx:
        await tx.execute("update crawl.stores set platform_id = $2 where id = $1", store, found["platform"])
        tx.continue_with(of_store(product_discovery.new(store, found["platform"]), store))


@app.kind(queue=QUEUE, egress=True, retry=SOON, priority=10)
async def product_discovery(job: Job, store: int, platform: int) -> None:
    """The first crawl of a store. It comes before those of known stores."""
    await _fetch(job, store, platform)


@app.kind(queue=QUEUE, egress=True, retry=SOON)
async def payload_fetch(job: Job, store: int, platform: int) -> None:
    """Fetch the products of a store from the API and save them as they came."""
    await _fetch(job, store, platform)


@app.kind(queue=QUEUE, retry=SOON, priority=20)
async def product_refresh(job: Job, store: int, payload: int) -> int:
    """Bring a payload into the tables; it never asks the API. Run it again for any old payload."""
    held = await job.payloads.load(payload, Payload)
    async with job.complete() as tx:
        done = await refresh(tx, store, payload, held.products)
        job.start(*(fetch_image.new(each).but(key_group=GROUP) for each in done.images))
    return done.products


@app.kind(queue=QUEUE, egress=True, retry=SOON, priority=-5)
async def fetch_image(job: Job, url: str) -> str:
    """Fetch an image. What is there already under another URL is not stored again."""
    async with Web(job) as web:
        content = _checked(await web.get(_address() + url)).content
    digest = hashlib.sha256(content).digest()
    async with job.complete() as tx:
        await tx.execute("insert into crawl.images values ($1, $2) on conflict do nothing", digest, content)
        await tx.execute("update crawl.image_urls set hash = $2 where url = $1", url, digest)
    return digest.hex()


@app.schedule(every=timedelta(hours=6))
@app.kind(mode="atomic", queue=QUEUE)
async def analytics_refresh(job: Job) -> None:
    """Bring the materialised views up to date."""
    await job.transaction.execute("refresh materialized view crawl.state_summary")


app.schedule(payload_fetch, query=STORES, name="payload_fetch_all", every=timedelta(hours=4))


def of_store(job: NewJob[Any], store: int) -> NewJob[Any]:
    """The job, as one about this store: stores take turns, and at most one job of a store runs."""
    return job.but(key=f"store-{store}", key_group=GROUP)


async def _fetch(job: Job, store: int, platform: int) -> None:
    """The payload is safe before the job completes. If we die in between, the next attempt saves another one, and only the
    one that is passed on is refreshed."""
    async with Web(job) as web:
        found = [msgspec.convert(each, Product) async for each in _pages(web, "Products", platform=platform)]
    saved = await job.save(Payload(store, found), kind="products", key=f"store-{store}")
    async with job.complete() as tx:
        await tx.execute("update crawl.stores set last_fetch_at = now() where id = $1", store)
        tx.continue_with(of_store(product_refresh.new(store, saved.id), store))


async def _pages(web: Web, operation: str, **variables: int | str) -> AsyncGenerator[dict[str, Any]]:
    """Everything that an operation of the API has, page by page."""
    page, pages = 0, 1
    while page < pages:
        asked = {"operationName": operation, "variables": {**variables, "page": page}}
        answer = _checked(await web.post(f"{_address()}/graphql", json=asked)).json()
        if "errors" in answer:
            raise ShopFailed(answer["errors"][0]["message"])
        for each in answer["data"]["items"]:
            yield each
        page, pages = page + 1, answer["data"]["pages"]


def _checked(response: Any) -> Any:
    if response.status_code != 200:
        raise ShopFailed(f"the shop answered {response.status_code}")
    return response


def _address() -> str:
    return os.environ[ADDRESS]
