"""The API of the shops: pages of stores and products, errors, and 403 for whoever asks too much.

It runs in a thread of the example with a loop of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from .catalogue import (
    PLATFORM_IDS,
    Changes,
    Scale,
    Truth,
    find_changes,
    find_truth,
    menu_of,
    picture,
    platform_id_of,
    state_of,
)

PAGE_SIZE = 100
STORES_A_PAGE = 20
FAILS_EVERY = 41
LOOK_SECONDS = 0.02
PATIENCE_REQUESTS = 25
"""After so many requests an identity is refused once."""


class ShopApi:
    """The shops. `url` is where they answer; `round` is what they sell; while `is_slow` they think about their products."""

    def __init__(self, scale: Scale) -> None:
        self.url = ""
        self.scale = scale
        self.round = 1
        self.is_slow = False
        self.answers: Counter[str] = Counter()
        self._asked: Counter[str] = Counter()

    def truth(self) -> Truth:
        """What a crawl must have found by now."""
        return find_truth(self.scale, self.round)

    def changes(self) -> Changes:
        """What differs between this round and the one before."""
        return find_changes(self.scale, self.round - 1, self.round)

    def routes(self) -> list[web.RouteDef]:
        """What it answers."""
        return [
            web.get("/robots.txt", self._tell_rules),
            web.post("/graphql", self._answer),
            web.get("/images/{name}", self._show),
        ]

    async def _tell_rules(self, _request: web.Request) -> web.Response:
        return web.Response(text="User-agent: *\nDisallow: /admin\n")

    async def _show(self, request: web.Request) -> web.Response:
        if refusal := self._refuse(request):
            return refusal
        return web.Response(body=picture(request.match_info["name"]), content_type="image/png")

    async def _answer(self, request: web.Request) -> web.Response:
        asked = await request.json()
        if refusal := self._refuse(request):
            return refusal
        page = int(asked["variables"]["page"])
        match asked["operationName"]:
            case "Stores":
                known = self.scale.stores(self.round)
                stores = [{"id": each, "state": state_of(each), "menu": menu_of(each)} for each in known]
                return _paged(stores, page, STORES_A_PAGE)
            case "EntryPoint":
                return _paged([{"platform": platform_id_of(asked["variables"]["menu"])}], page, 1)
            case "Products":
                while self.is_slow:  # noqa: ASYNC110  another thread changes it
                    await asyncio.sleep(LOOK_SECONDS)
                sold = self.scale.sells(int(asked["variables"]["platform"]) - PLATFORM_IDS, self.round)
                fields = [{name: getattr(each, name) for name in each.__struct_fields__} for each in sold.values()]
                return _paged(fields, page, PAGE_SIZE)
            case other:
                return web.json_response({"errors": [{"message": f"there is no operation {other}"}]})

    def _refuse(self, request: web.Request) -> web.Response | None:
        """403 for an identity that asked too often, and an error now and then."""
        self._asked[who := request.headers["User-Agent"]] += 1
        if self._asked[who] > PATIENCE_REQUESTS:
            self._asked[who] = 0
            self.answers["403"] += 1
            return web.Response(status=403, headers={"Retry-After": "1"})
        self.answers["all"] += 1
        if self.answers["all"] % FAILS_EVERY == 0:
            self.answers["500"] += 1
            return web.Response(status=500)
        return None


def _paged(items: list[dict[str, Any]], page: int, size: int) -> web.Response:
    pages = max(1, -(-len(items) // size))
    return web.json_response({"data": {"items": items[page * size : (page + 1) * size], "pages": pages}})


@contextmanager
def open_shops(scale: Scale) -> Generator[ShopApi]:
    """Run the shops, which answer at `url`."""
    shops, ready = ShopApi(scale), threading.Event()
    over = asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        app = web.Application()
        app.add_routes(shops.routes())
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        shops.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        loops.append(asyncio.get_running_loop())
        ready.set()
        await over.wait()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    try:
        yield shops
    finally:
        loops[0].call_soon_threadsafe(over.set)
        thread.join()
