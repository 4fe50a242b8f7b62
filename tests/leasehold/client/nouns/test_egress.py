from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from leasehold.client import Client
from leasehold.database import Database
from leasehold.egress import AddressInside, browser
from leasehold.errors import BadInput, WrongState
from tests.leasehold.egress.conftest import Target, start_proxy, target

__all__ = ["start_proxy", "target"]


async def test_what_a_server_answers_counts_as_if_a_job_had_asked(database: Database, target: Target) -> None:
    client = Client(database)
    target.decide = lambda _: (302, {"Location": "/elsewhere"})
    await client.egress.add("berlin", locale="de-DE", retire_after=1)
    tested = await client.egress.test("berlin", target.url)
    assert (tested.status, tested.problem, tested.state) == (302, None, "ready")
    [seen] = target.seen  # no redirect was followed
    assert seen["Accept-Language"] == "de-DE,de;q=0.9,en;q=0.8"
    target.decide = lambda _: (403, {})
    assert (await client.egress.test("berlin", target.url)).state == "retired"
    with pytest.raises(WrongState, match="berlin is unknown, retired or not free"):
        await client.egress.test("berlin", target.url)


async def test_a_server_that_does_not_answer_says_nothing_of_the_identity(database: Database) -> None:
    client = Client(database)
    await client.egress.add("direct")
    tested = await client.egress.test("direct", "http://127.0.0.1:1/?secret=1")
    assert (tested.status, tested.state) == (None, "ready")
    assert "secret" not in str(tested.problem)


@pytest.mark.parametrize("only_public", [False, True])
async def test_what_is_no_address_is_refused_or_cannot_be_reached(database: Database, only_public: bool) -> None:
    client = Client(database)
    await client.egress.add("direct")
    for url in ("http://[", "http://[::1", "http://", "http://a:b/", "http://a:99999/", "ftp://shop.example/"):
        with pytest.raises(BadInput, match="no URL"):
            await client.egress.test("direct", url, only_public=only_public)
    for url in ("http://a..b/", f"http://{'a' * 64}.example/", "http://nobody.invalid/"):
        tested = await client.egress.test("direct", url, only_public=only_public)
        assert (tested.status, tested.state) == (None, "ready")


async def test_public_addresses_alone_are_asked_where_that_is_wanted(database: Database, target: Target) -> None:
    client = Client(database)
    await client.egress.add("direct")
    for url in (
        target.url,
        target.url.replace("127.0.0.1", "localhost"),
        target.url.replace("127.0.0.1", "[::ffff:127.0.0.1]"),
    ):
        with pytest.raises(AddressInside, match="which is not public; this identity has no proxy"):
            await client.egress.test("direct", url, only_public=True)
    assert target.seen == []
    [identity] = await client.egress.list()
    assert identity.state == "ready"


async def test_a_public_address_is_asked_by_the_name_of_its_host(
    database: Database, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "is_public", bool)  # here is no other address
    client = Client(database)
    await client.egress.add("direct")
    named = target.url.replace("127.0.0.1", "localhost")
    assert (await client.egress.test("direct", named, only_public=True)).status == 200
    assert [each["Host"] for each in target.seen] == [named.removeprefix("http://")]


async def test_a_proxy_decides_itself_which_hosts_it_asks(
    database: Database, target: Target, start_proxy: Callable[..., Awaitable[str]]
) -> None:
    client = Client(database)
    await client.egress.add("berlin", proxy=await start_proxy())
    assert (await client.egress.test("berlin", target.url, only_public=True)).status == 200
    assert "via" in {name.lower() for name in target.seen[0]}


def test_addresses_that_are_not_of_the_internet_are_not_public() -> None:
    inside = ["127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255",
              "::1", "::", "fe80::1%eth0", "fd00::1", "ff02::1", "::ffff:10.0.0.1", "2002:a00:1::", "64:ff9b::a00:1"]  # fmt: skip
    assert [each for each in inside if browser.is_public(each)] == []
    assert all(browser.is_public(each) for each in ("1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"))
