"""`python -m benchmarks.bare_handler PORT`: aiohttp that decodes a JSON body and answers. What no gateway can beat."""

from __future__ import annotations

import asyncio
import sys

import msgspec
from aiohttp import web

ANSWER = b'{"id":1,"is_new":true,"outcome":"created"}'


async def answer(request: web.Request) -> web.Response:
    """Decode and answer."""
    msgspec.json.decode(await request.read())
    return web.Response(status=201, body=ANSWER, content_type="application/json")


def main(port: int) -> None:
    """Serve until the process is ended."""
    application = web.Application()
    application.router.add_post("/api/jobs", answer)
    loop = asyncio.new_event_loop()
    web.run_app(application, host="127.0.0.1", port=port, access_log=None, print=None, loop=loop)


if __name__ == "__main__":
    main(int(sys.argv[1]))
