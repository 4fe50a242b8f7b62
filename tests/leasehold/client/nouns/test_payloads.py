"""Payloads, saved and read by programs of either flavour."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec
import pytest

from leasehold import Client
from leasehold.database import Database
from leasehold.errors import BadInput, NoPayloadStore, PayloadDamaged, PayloadMissing, PayloadTooLarge, UnknownPayload
from leasehold.payloads.options import PayloadOptions
from leasehold.payloads.stores import FolderStore
from tests.leasehold.client.conftest import Under, flavour, with_client

__all__ = ["flavour"]  # both: what is iterated over is of the caller's own


class Product(msgspec.Struct):
    id: int
    price: float


def files(folder: Path) -> list[Path]:
    return sorted(each for each in folder.rglob("*") if each.is_file())


@with_client(stores=True)
async def test_a_value_is_saved_as_gzipped_json_and_read_again(client: Client, tmp_path: Path) -> None:
    products = [{"id": 1, "price": 2.5}, {"id": 2, "price": 3.0}]

    saved = await client.payloads.save(products, kind="catalogue", key="shop/7", metadata={"products": 2})
    assert saved == await client.payloads.get(saved.id)
    assert await client.payloads.load(saved.id) == products
    assert await client.payloads.load(saved, list[Product]) == [Product(1, 2.5), Product(2, 3.0)]
    [file] = files(tmp_path)
    assert file.relative_to(tmp_path).as_posix() == saved.location
    at = saved.created_at
    assert saved.location == f"{at:%Y/%m/%d}/store_shop-7_{at:%Y%m%dT%H%M%SZ}-{saved.id}.json.gz"
    content = gzip.decompress(file.read_bytes())
    assert (saved.size, saved.compressed_size) == (len(content), file.stat().st_size)
    assert saved.sha256 == hashlib.sha256(content).hexdigest()
    assert (saved.kind, saved.key, saved.metadata, saved.codec) == ("catalogue", "shop/7", {"products": 2}, "gzip")


def test_bytes_paths_files_and_iterators_are_saved_as_they_come(under: Under, tmp_path: Path) -> None:
    content = bytes(range(256)) * 20_000
    source = tmp_path / "source"
    source.write_bytes(content)

    async def pieces() -> AsyncGenerator[bytes]:
        for at in range(0, len(content), 100_000):
            yield content[at : at + 100_000]

    async def work(client: Client) -> None:
        with source.open("rb") as file:
            for given in (content, source, file, iter([content[:5], content[5:]]), pieces()):
                saved = await client.payloads.save(given, kind="image", media_type="image/png", codec="none")
                assert await client.payloads.read(saved) == content
                assert (saved.size, saved.compressed_size, saved.media_type) == (len(content),) * 2 + ("image/png",)
                assert b"".join([each async for each in client.payloads.stream(saved)]) == content

    under(work, payloads=str(tmp_path / "store"))


@with_client(stores=True)
async def test_they_are_listed_by_key_and_the_newest_is_found(client: Client, tmp_path: Path) -> None:
    first = await client.payloads.save([1], kind="catalogue", key="7")
    second = await client.payloads.save([2], kind="catalogue", key="7")
    assert await client.payloads.list(key="7") == [second, first]
    assert await client.payloads.list(before_id=second.id) == [first]
    assert await client.payloads.latest("7") == second
    assert await client.payloads.latest("7", kind="image") is None


@with_client(stores=True)
async def test_deleting_takes_content_and_row(client: Client, tmp_path: Path) -> None:
    saved = await client.payloads.save([1], kind="catalogue")
    await client.payloads.delete(saved.id)
    assert files(tmp_path) == []
    with pytest.raises(UnknownPayload, match=f"no payload {saved.id}"):
        await client.payloads.load(saved.id)
    with pytest.raises(UnknownPayload):
        await client.payloads.delete(saved.id)


async def test_what_is_refused_leaves_nothing_behind(database: Database, tmp_path: Path) -> None:
    async def endless() -> AsyncGenerator[bytes]:
        while True:
            yield b"x" * 100_000

    store = FolderStore(tmp_path / "store")
    small = Client(database, payloads=PayloadOptions(store, limit=1_000_000)).payloads
    with pytest.raises(PayloadTooLarge, match="1,000,000 are the most"):
        await small.save(b"x" * 1_000_001, kind="x")
    assert files(tmp_path) == []
    with pytest.raises(PayloadTooLarge):
        await small.save(endless(), kind="x")
    with pytest.raises(BadInput, match="neither bytes nor JSON"):
        await small.save(object(), kind="x")
    with pytest.raises(BadInput, match="metadata"):
        await small.save([1], kind="x", metadata={"a": object()})
    with pytest.raises(BadInput, match="kind must have"):
        await small.save([1], kind="")
    with pytest.raises(BadInput, match="cannot be saved"):
        await small.save(tmp_path / "absent", kind="x")
    assert list(store.files()) == []
    assert await small.list() == []


def test_two_gigabytes_are_refused_before_anything_is_written(under: Under, tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate((2 << 30) + 1)

    async def work(client: Client) -> None:
        with pytest.raises(PayloadTooLarge, match="2,147,483,648 are the most"):
            await client.payloads.save(large, kind="x")
        assert files(tmp_path) == [large]

    under(work, payloads=str(tmp_path / "store"))


@with_client(stores=True)
async def test_what_was_changed_cut_short_or_lost_is_told(client: Client, tmp_path: Path) -> None:
    saved = await client.payloads.save([*range(1000)], kind="x")
    path = tmp_path / saved.location
    whole = path.read_bytes()
    for damaged, complaint in (
        (whole[:-5], "cut short"),
        (whole[:10] + b"\xff\xff" + whole[12:], "gzip is broken|checksum"),
        (gzip.compress(msgspec.json.encode([*range(1000)][::-1])), "checksum"),
        (gzip.compress(b"[]"), "2 bytes of content"),
        (gzip.compress(bytes(9_000_000)), "more than the"),
        (whole + b"x", "behind its end|gzip is broken"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(PayloadDamaged, match=complaint):
            await client.payloads.load(saved.id)
    path.unlink()
    with pytest.raises(PayloadMissing, match=path.name):
        await client.payloads.load(saved.id)


@with_client(stores=True)
async def test_what_is_no_json_or_does_not_fit_is_told(client: Client, tmp_path: Path) -> None:
    saved = await client.payloads.save(b"\x89PNG", kind="image", media_type="image/png")
    with pytest.raises(BadInput, match=r"image/png\) is no JSON"):
        await client.payloads.load(saved.id)
    numbers = await client.payloads.save([1], kind="x")
    with pytest.raises(BadInput, match="does not fit Product"):
        await client.payloads.load(numbers.id, Product)


@with_client()
async def test_a_client_without_a_store_lists_and_says_what_is_missing(client: Client) -> None:
    assert await client.payloads.list() == []
    with pytest.raises(NoPayloadStore, match=r"LEASEHOLD_PAYLOADS_STORE.* open_client\(dsn, payloads=…\)"):
        await client.payloads.save([1], kind="x")
