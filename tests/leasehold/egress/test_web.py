"""Requests of real jobs on a real worker, through a real forward proxy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from leasehold import App, Job
from leasehold.client import Client, open_client
from leasehold.egress import Web, host_of
from leasehold.errors import BadInput
from leasehold.jobs.kind import Runs
from tests.leasehold.egress.conftest import Target
from tests.support.working import working

StartProxy = Callable[..., Awaitable[str]]


def crawler(*, robots: bool = False, runs: Runs = "trio") -> App:
    """An app whose handler gets a page and says who got it."""
    app = App()

    @app.kind(runs=runs, egress=True)
    async def fetch(job: Job, url: str) -> list[object]:
        async with Web(job, robots=robots) as web:
            response = await web.get(url)
            return [response.status_code, web.identity.name]

    return app


async def states(client: Client) -> dict[str, str]:
    return {each.name: each.state for each in await client.egress.list(everything=True)}


async def test_a_request_goes_through_the_proxy_with_its_password_and_the_headers_of_its_identity(
    database_url: str, target: Target, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy("--basic-auth", "me:hunter2")
    async with open_client(database_url) as client:
        await client.egress.add(
            "berlin", locale="de-DE", user_agent="Shopper/1", proxy=proxy, proxy_user="me", proxy_password="hunter2"
        )
    async with working(database_url, crawler()) as running:
        done = await running.run("fetch", {"url": target.url})
        assert (done.state, done.output) == ("completed", [200, "berlin"])
        [seen] = target.seen
        assert (seen["User-Agent"], seen["Accept-Language"]) == ("Shopper/1", "de-DE,de;q=0.9,en;q=0.8")
        assert "via" in {name.lower() for name in seen}
        assert await states(running.client) == {"berlin": "ready"}


async def test_a_refused_identity_cools_and_another_one_asks_again(database_url: str, target: Target) -> None:
    target.decide = lambda agent: (403, {"Retry-After": "600"}) if agent == "a" else (200, {})
    async with open_client(database_url) as client:
        for name in ("a", "b"):
            await client.egress.add(name, user_agent=name)
    async with working(database_url, crawler()) as running:
        done = await running.run("fetch", {"url": target.url})
        assert (done.output, target.agents) == ([200, "b"], ["a", "b"])
        [a, b] = await running.client.egress.list()
        assert (a.state, a.refusals, b.state, b.refusals) == ("cooling", 1, "ready", 0)
        assert a.cools_for is not None
        assert a.cools_for > 500


async def test_a_dead_proxy_costs_a_rotation_and_the_identity_retires(database_url: str, target: Target) -> None:
    async with open_client(database_url) as client:
        await client.egress.add("a", proxy="http://127.0.0.1:1", retire_after=1)
        await client.egress.add("b")
    async with working(database_url, crawler()) as running:
        assert (await running.run("fetch", {"url": target.url})).output == [200, "b"]
        assert await states(running.client) == {"a": "retired", "b": "ready"}


async def test_a_wrong_password_of_a_proxy_is_its_fault(
    database_url: str, target: Target, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy("--basic-auth", "me:hunter2")
    async with open_client(database_url) as client:
        await client.egress.add("a", proxy=proxy, proxy_user="me", proxy_password="wrong")
        await client.egress.add("b")
    async with working(database_url, crawler()) as running:
        assert (await running.run("fetch", {"url": target.url})).output == [200, "b"]
        assert (await states(running.client))["a"] == "cooling"
        assert len(target.seen) == 1


async def test_while_all_cool_the_job_waits_without_losing_an_attempt(database_url: str, target: Target) -> None:
    target.decide = lambda _agent: (429, {"Retry-After": "600"})
    async with open_client(database_url) as client:
        await client.egress.add("a")
    async with working(database_url, crawler()) as running:
        job_id = await running.client.enqueue("fetch", {"url": target.url})
        waiting = await running.in_state(job_id, "scheduled")
        assert waiting.spared_attempts == 1
        assert (waiting.run_at - waiting.created_at).total_seconds() > 500
        [a] = await running.client.egress.list()
        assert (a.state, a.refusals) == ("cooling", 0)


async def test_when_the_server_refuses_all_the_attempt_fails_and_says_so(database_url: str, target: Target) -> None:
    target.decide = lambda _agent: (403, {})
    async with open_client(database_url) as client:
        for name in ("a", "b", "c", "d", "e"):
            await client.egress.add(name)
    async with working(database_url, crawler()) as running:
        failed = await running.run("fetch", {"url": target.url + "/x?token=secret"}, max_attempts=1)
        assert failed.error is not None
        assert failed.error["type"].endswith("EgressRefused")
        assert "/x refused 4 egress identities, last with 403" in failed.error["message"]
        assert "secret" not in failed.error["message"]


async def test_robots_txt_is_heeded_unless_told_otherwise(database_url: str, target: Target) -> None:
    target.robots = "User-agent: *\nDisallow: /private"
    async with open_client(database_url) as client:
        await client.egress.add("a")
    async with working(database_url, crawler(robots=True)) as running:
        failed = await running.run("fetch", {"url": f"{target.url}/private/x"}, max_attempts=1)
        assert failed.error is not None
        assert failed.error["type"].endswith("RobotsForbid")
        assert (await running.run("fetch", {"url": f"{target.url}/public"})).state == "completed"
    async with working(database_url, crawler()) as running:
        assert (await running.run("fetch", {"url": f"{target.url}/private/x"})).state == "completed"


async def test_handlers_of_asyncio_are_told_that_it_is_not_for_them(database_url: str) -> None:
    async with open_client(database_url) as client:
        await client.egress.add("a")
    async with working(database_url, crawler(runs="asyncio")) as running:
        failed = await running.run("fetch", {"url": "http://127.0.0.1:1/"}, max_attempts=1)
        assert failed.error is not None
        assert "Web is for handlers that run under trio" in failed.error["message"]


def test_a_host_is_a_key_group() -> None:
    assert host_of("https://me:pw@Shop.example:8443/a?b") == "shop.example:8443"
    for wrong in ("shop.example", "ftp://shop.example", ""):
        with pytest.raises(BadInput):
            host_of(wrong)
