"""What the shops sell in each round: pure functions, so that truth can be asked for at any time."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import msgspec

STATES = ("AZ", "CA", "NV", "OR", "WA")
NEW_STORES = 2
NEW_PRODUCTS = 3
PICTURES = 24


class Product(msgspec.Struct, frozen=True):
    """A product as the API tells it."""

    sku: str
    name: str
    cents: int
    stock: int
    image: str


class Scale(msgspec.Struct, frozen=True):
    """How many shops there are in the end, and how many products each has at first."""

    shops: int
    products: int

    def stores(self, number: int) -> list[int]:
        """The stores of a round. Two of them open in the second one."""
        return list(range(1, self.shops + 1 - (NEW_STORES if number == 1 else 0)))

    def sells(self, store: int, number: int) -> dict[str, Product]:
        """The products of a store in a round, by SKU."""
        last = self.products + NEW_PRODUCTS * (number - 1)
        return {each.sku: each for place in range(1, last + 1) if (each := _product(store, place, number))}


PLATFORM_IDS = 7000


def menu_of(store: int) -> str:
    """The page of a store, as the list of stores has it."""
    return f"/menus/shop-{store}"


def platform_id_of(menu_url: str) -> int:
    """The number by which the platform knows the store with this page."""
    return PLATFORM_IDS + int(menu_url.rpartition("-")[2])


def state_of(store: int) -> str:
    """The state that a store is in."""
    return STATES[store % len(STATES)]


def _product(store: int, place: int, number: int) -> Product | None:
    """A product in a round; None where it is sold out of the catalogue. One in ten changes its price, one in eight its stock."""
    if number > 1 and (store * 7 + place + number * 11) % 40 == 0:
        return None
    moves = sum((store + place + each * 3) % 10 == 0 for each in range(2, number + 1))
    sales = sum((store * 3 + place + each) % 8 == 0 for each in range(2, number + 1))
    return Product(
        sku=f"{store}-{place}",
        name=f" Product  {place} ",
        cents=1000 + (store * 31 + place * 7) % 4000 + 50 * moves,
        stock=20 + place % 30 - 2 * sales,
        image=f"/images/{place % (2 * PICTURES)}.png",
    )


def picture(name: str) -> bytes:
    """The content of an image. Two names have each content."""
    number = int(name.removesuffix(".png")) % PICTURES
    return b"picture %d " % number * 200


class Truth(msgspec.Struct, frozen=True):
    """What a crawl of all rounds so far must have found.

    Attributes:
        stores, products: open and sold now. cents, stock: sums over these.
        sightings: how often a product was there, over all rounds.
        prices: first prices and changes between two sightings.
        missing: products that were seen once and are gone now.
        pictures: different images.
    """

    stores: int
    products: int
    cents: int
    stock: int
    sightings: int
    prices: int
    missing: int
    pictures: int


class Changes(msgspec.Struct, frozen=True):
    """What differs between two rounds, over the stores that were there in both."""

    added: int
    removed: int
    price_changes: int
    stock_changes: int


def find_truth(scale: Scale, number: int) -> Truth:
    """The truth after this round."""
    now = {store: scale.sells(store, number) for store in scale.stores(number)}
    seen: dict[str, list[int]] = {}
    images: set[bytes] = set()
    for each in range(1, number + 1):
        for store in scale.stores(each):
            for sku, product in scale.sells(store, each).items():
                seen.setdefault(sku, []).append(product.cents)
                images.add(picture(product.image.rpartition("/")[2]))
    sold = [product for store in now.values() for product in store.values()]
    return Truth(
        stores=len(now),
        products=len(sold),
        cents=sum(each.cents for each in sold),
        stock=sum(each.stock for each in sold),
        sightings=sum(map(len, seen.values())),
        prices=sum(1 + sum(a != b for a, b in pairwise(cents)) for cents in seen.values()),
        missing=len(seen) - len(sold),
        pictures=len(images),
    )


def find_changes(scale: Scale, before: int, after: int) -> Changes:
    """The changes between two rounds."""
    found = [0, 0, 0, 0]
    for store in scale.stores(before):
        found = [
            a + b for a, b in zip(found, compare(scale.sells(store, before), scale.sells(store, after)), strict=True)
        ]
    return Changes(*found)


def compare(old: Mapping[str, Product], new: Mapping[str, Product]) -> tuple[int, int, int, int]:
    """How many products are new, gone, of another price, of another stock."""
    both = old.keys() & new.keys()
    return (
        len(new.keys() - old.keys()),
        len(old.keys() - new.keys()),
        sum(old[sku].cents != new[sku].cents for sku in both),
        sum(old[sku].stock != new[sku].stock for sku in both),
    )
