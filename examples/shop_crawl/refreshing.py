"""From a payload to the tables: normalise, upsert, snapshot, mark what is missing. All of it is one transaction."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from leasehold import OpenTransaction

from .catalogue import Product

# A replay of an old payload makes its snapshots anew and leaves the products alone: a newer payload has refreshed them.
LOCK = "select refreshed_payload from crawl.stores where id = $1 for update"
SNAPSHOT = """
insert into crawl.snapshots (payload_id, store_id, sku, cents, stock)
select $1, $2, p.sku, p.cents, p.stock from unnest($3::text[], $4::int[], $5::int[]) p(sku, cents, stock) order by p.sku
on conflict (payload_id, sku) do update set cents = excluded.cents, stock = excluded.stock
"""
PRICES = """
insert into crawl.price_history (payload_id, store_id, sku, cents)
select $1, $2, n.sku, n.cents from unnest($3::text[], $4::int[]) n(sku, cents)
  left join crawl.products p on p.store_id = $2 and p.sku = n.sku
 where p.cents is distinct from n.cents order by n.sku
"""
UPSERT = """
insert into crawl.products as p (store_id, sku, name, cents, stock, image_url)
select $1, n.* from unnest($2::text[], $3::text[], $4::int[], $5::int[], $6::text[]) n(sku, name, cents, stock, image_url)
 order by n.sku
on conflict (store_id, sku) do update
   set name = excluded.name, cents = excluded.cents, stock = excluded.stock, image_url = excluded.image_url,
       sightings = p.sightings + 1, is_missing = false
"""
MISSING = (
    "update crawl.products set is_missing = true where store_id = $1 and not is_missing and sku <> all ($2::text[])"
)
REFRESHED = "update crawl.stores set refreshed_payload = $2 where id = $1"
IMAGES = """
insert into crawl.image_urls (url) select distinct u from unnest($1::text[]) u
 where not exists (select from crawl.image_urls i where i.url = u) order by 1
on conflict do nothing returning url
"""


class Refreshed(msgspec.Struct, frozen=True):
    """What a refresh did.

    Attributes:
        products: in the payload. is_replay: the payload is an old one, of which only the snapshots were made again.
        images: their URLs, as far as nobody has asked for them yet.
    """

    products: int
    is_replay: bool
    images: list[str]


def normalise(product: Product) -> Product:
    """The product with one space between the words of its name, and no stock below 0."""
    return msgspec.structs.replace(product, name=" ".join(product.name.split()), stock=max(0, product.stock))


async def refresh(tx: OpenTransaction, store: int, payload: int, found: Sequence[Product]) -> Refreshed:
    """Bring a payload into the tables. The lock of the store's row comes first, so refreshes of a store take turns."""
    [row] = await tx.fetch(LOCK, store)
    newest: int = row["refreshed_payload"]
    products = [normalise(each) for each in found]
    skus = [each.sku for each in products]
    cents, stock = [each.cents for each in products], [each.stock for each in products]
    await tx.execute(SNAPSHOT, payload, store, skus, cents, stock)
    if payload <= newest:
        return Refreshed(len(products), True, [])
    await tx.execute(PRICES, payload, store, skus, cents)
    images = [each.image for each in products]
    await tx.execute(UPSERT, store, skus, [each.name for each in products], cents, stock, images)
    await tx.execute(MISSING, store, skus)
    await tx.execute(REFRESHED, store, payload)
    fresh = await tx.fetch(IMAGES, images)
    return Refreshed(len(products), False, [each["url"] for each in fresh])
