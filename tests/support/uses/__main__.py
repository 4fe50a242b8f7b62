"""`python -m tests.support.uses DSN`: a process has one Django, and its main thread one loop at a time."""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import asyncio
import faulthandler
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import django
import django.conf
import msgspec
import psycopg.conninfo
import trio
from django.core.management import call_command
from fakeredis import TcpFakeServer

import leasehold
from leasehold import App
from tests.support.uses import USES, answer, libraries, tasks, wires
from tests.support.waiting import PATIENCE
from tests.support.working import unhurried

MODULES = (tasks, wires, libraries)
app = App(runs="asyncio")
app.kind(name="use")(answer)


class Page(BaseHTTPRequestHandler):
    """Answers `page`; below /slow when the server ends."""

    ended = threading.Event()

    def do_GET(self) -> None:
        if self.path.startswith("/slow"):
            self.ended.wait()
            return
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"page")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def set_up_django(dsn: str) -> None:
    place = psycopg.conninfo.conninfo_to_dict(dsn)
    django.conf.settings.configure(
        INSTALLED_APPS=["django.contrib.contenttypes"],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": place["dbname"],
                "USER": place.get("user", ""),
                "HOST": place.get("host", ""),
                "PORT": place.get("port", ""),
            }
        },
    )
    django.setup()
    call_command("migrate", verbosity=0)


async def in_handlers(dsn: str) -> dict[str, Any]:
    with unhurried():
        async with leasehold.worker(app, dsn, slots=1), leasehold.open_client(dsn, app=app) as client:
            return {name: await client.wait(await client.enqueue("use", {"name": name})) for name in named("inside")}


def named(where: str) -> Iterator[str]:
    """The uses. On standard error stands which one is tried: the last one if the process hangs."""
    for name in USES:
        print(where, name, file=sys.stderr, flush=True)
        yield name
    print(where, "done", file=sys.stderr, flush=True)


def main(dsn: str) -> None:
    faulthandler.dump_traceback_later(3 * PATIENCE, exit=True)
    set_up_django(dsn)
    server, store = ThreadingHTTPServer(("127.0.0.1", 0), Page), TcpFakeServer(("127.0.0.1", 0))
    store.daemon_threads = True
    for each in (server, store):
        threading.Thread(target=each.serve_forever, daemon=True).start()
    page, redis = (
        f"{scheme}://127.0.0.1:{each.server_address[1]}" for scheme, each in (("http", server), ("redis", store))
    )
    libraries.PLACES.update(database=dsn, page=f"{page}/", redis=redis)
    outside = {name: asyncio.run(answer(name)) for name in named("outside")}
    inside = trio.run(in_handlers, dsn)
    Page.ended.set()
    for each in (server, store):
        each.shutdown()
        each.server_close()
    outside = msgspec.json.decode(msgspec.json.encode(outside))
    differing = {name: [said, inside[name]] for name, said in outside.items() if said != inside[name]}
    print(msgspec.json.encode({"answers": outside, "differing": differing}).decode())


if __name__ == "__main__":
    main(sys.argv[1])
