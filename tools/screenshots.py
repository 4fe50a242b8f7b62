"""`make screenshots`: run a small shop crawl, open every page of the dashboard in light and dark, wide and as a phone has it, and
write what is seen.

All pictures go to build/screenshots/, four of them to docs/images/, too.
"""

from __future__ import annotations

import json
import shutil
import sys
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import trio
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.processes import free_port
from examples.backstage import Backstage, show
from examples.shop_crawl import app
from examples.shop_crawl.__main__ import SCHEDULES, WORKERS, begin, prepare
from examples.shop_crawl.catalogue import Scale
from examples.shop_crawl.handlers import QUEUE
from examples.shop_crawl.progress import look
from examples.shop_crawl.server import ShopApi, open_shops
from tools.chromium import MISSING, find_chromium

ROOT = Path(__file__).parents[1]
ALL = ROOT / "build" / "screenshots"
CHOSEN = {"overview-light": "overview", "job-light": "job", "workers-dark": "workers", "queue-dark": "queue"}
PLAIN = (
    "jobs", "failures", "queues", "workers", "schedules", "capacity", "chains", "doctor", "enqueue", "payloads", "egress",
    "tokens", "audit",
)  # fmt: skip
WINDOWS = {"overview", "job", "workers", "queue"}
"""Pages of which only the window is shown, not all that one can scroll to."""
SHOPS, PRODUCTS = 12, 120
VIEWPORTS = {"": {"width": 1440, "height": 900}, "phone-": {"width": 390, "height": 844}}
QUIET_MILLISECONDS = 60_000
HOLDERS = "select worker_id from leasehold.jobs where state = 'running' order by started_at"
PATIENCE_SECONDS = 150
BOOKED = "select count(*) > 0 as done from leasehold.rollups where completed > 0"


async def perform(stage: Backstage) -> None:
    """Crawl twice, kill a worker, leave some trouble, and look at each page while the second round runs."""
    port = free_port()
    stage.environ["LEASEHOLD_GATEWAY_PORT"] = str(port)
    with open_shops(Scale(SHOPS, PRODUCTS)) as shops:
        await prepare(stage, shops)
        await stage.start(*WORKERS, "reaper", "scheduler", "gateway", queues=[QUEUE])
        await stage.until("the schedules", partial(_are_declared, stage))
        await _first_round(stage, shops)
        await _leave_trouble(stage, f"http://127.0.0.1:{port}")
        shops.round = 2
        shops.is_slow = True
        await begin(stage, 2)
        await stage.until("jobs that run", partial(_holders, stage))
        stage.say(f"looking at the pages, into {ALL.relative_to(ROOT)}")
        await trio.to_thread.run_sync(look_at_all, f"http://127.0.0.1:{port}")
        shops.is_slow = False


async def _are_declared(stage: Backstage) -> bool:
    return {each.name for each in await stage.client.schedules.list()} >= SCHEDULES


async def _holders(stage: Backstage) -> list[str]:
    async with stage.client.transaction() as tx:
        return [row["worker_id"] for row in await tx.fetch(HOLDERS)]


async def _first_round(stage: Backstage, shops: ShopApi) -> None:
    shops.round = 1
    await begin(stage, 1)
    [victim, *_] = await stage.until("jobs that run", partial(_holders, stage))
    await stage.troupe.players[victim].kill()
    await stage.start("worker.4", queues=[QUEUE])
    while (await look(stage.client, 0)).open:
        stage.troupe.check()
        await trio.sleep(0.2)

    async def is_booked() -> bool:
        async with stage.client.transaction() as tx:
            [row] = await tx.fetch(BOOKED)
        return row["done"]

    stage.say("the first round is done; its minutes have to be closed before there is a chart")
    for _ in range(PATIENCE_SECONDS):
        if await is_booked():
            break
        await trio.sleep(1)


async def _leave_trouble(stage: Backstage, url: str) -> None:
    """What somebody on call would find: a kind that nobody serves, and a queue that is paused."""
    for job in ({"kind": "send_newsletter", "queue": QUEUE}, {"kind": "store_report", "queue": "reports"}):
        await trio.to_thread.run_sync(_post, f"{url}/api/jobs", job)
    await stage.client.queues.pause("reports", reason="the printer is out of paper")


def _post(url: str, body: dict[str, Any]) -> None:
    headers = {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=30).close()


def look_at_all(url: str) -> None:
    """Write a picture of each page in each theme."""
    shutil.rmtree(ALL, ignore_errors=True)
    ALL.mkdir(parents=True)
    chromium = find_chromium()
    if chromium is None:
        sys.exit(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"])
        for theme in ("light", "dark"):
            for prefix in VIEWPORTS:
                _in_theme(browser, url, theme, prefix)
        browser.close()
    for picture, name in CHOSEN.items():
        shutil.copy(ALL / f"{picture}.png", ROOT / "docs" / "images" / f"dashboard-{name}.png")


def _in_theme(browser: Browser, url: str, theme: str, prefix: str) -> None:
    context = browser.new_context(viewport=VIEWPORTS[prefix], color_scheme=theme, reduced_motion="reduce")  # pyright: ignore[reportArgumentType]
    page = context.new_page()
    page.set_default_timeout(QUIET_MILLISECONDS)
    for name, path in pages_of(url):
        page.goto(f"{url}{path}")
        _settle(page)
        page.screenshot(path=ALL / f"{name}-{prefix}{theme}.png", full_page=bool(prefix) or name not in WINDOWS)
    context.close()


def _settle(page: Page) -> None:
    """Wait until the page shows what it loaded."""
    page.locator("main h1").first.wait_for()
    for part in page.get_by_text("Loading…", exact=True).all():
        part.wait_for(state="hidden")


def pages_of(url: str) -> Iterator[tuple[str, str]]:
    """Name and path of each page, with something to see on it."""
    yield "overview", "/"
    for name in PLAIN:
        yield name, f"/{name}"
    yield from (("queue", f"/queues/{QUEUE}"), ("capacity-queue", f"/capacity/{QUEUE}"))
    yield "schedule", "/schedules/payload_fetch_all"
    job = _first(url, "/api/jobs?kind=product_discovery&limit=1") or _first(url, "/api/jobs?limit=1")
    if job:
        yield "job", f"/jobs/{job['id']}"
        yield "chain", f"/chains/{job['chain_id']}"
    for name, api, path, field in (
        ("failure", "/api/failures", "/failures", "fingerprint"),
        ("worker", "/api/workers", "/workers", "worker_id"),
        ("payload", "/api/payloads?limit=1", "/payloads", "id"),
    ):
        if found := _first(url, api):
            yield name, f"{path}/{quote(str(found[field]), safe='')}"


def _first(url: str, path: str) -> dict[str, Any] | None:
    with urllib.request.urlopen(f"{url}{path}", timeout=30) as answer:
        items = json.load(answer)["items"]
    return items[0] if items else None


if __name__ == "__main__":
    show(app, "examples.shop_crawl:app", perform)
