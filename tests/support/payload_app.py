"""A program that saves payloads and dies where it is told to: `python -m tests.support.payload_app POINT DSN FOLDER`."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import trio

from leasehold import Client
from leasehold.database import open_database
from leasehold.errors import StoreUnavailable
from leasehold.payloads.archive import Archive, delete_old_payloads
from leasehold.payloads.content import Staging
from leasehold.payloads.options import PayloadOptions
from leasehold.payloads.stores import FolderStore

MEGABYTE = 1 << 20
LARGE = {"text": "x" * MEGABYTE}


def die(*_args: Any, **_named: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


async def random_pieces(count: int) -> AsyncGenerator[bytes]:
    for _ in range(count):
        yield os.urandom(MEGABYTE)


def peak() -> int:
    """The most memory that this program has had, in MiB. getrusage tells of the process that started it, too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) // 1024


async def main(point: str, dsn: str, folder: Path) -> None:
    store = FolderStore(folder)
    async with open_database(dsn) as database:
        client = Client(database, payloads=PayloadOptions(store))
        match point:
            case "while writing":
                Staging.finish = die
                await client.payloads.save([1], kind="x")
            case "before the row":
                Archive.record = die
                await client.payloads.save([1], kind="x")
            case "before the commit":
                async with database.transaction() as transaction:
                    await client.payloads.save([1], kind="x", connection=transaction)
                    die()
            case "before the row of large args":
                Archive.record = die
                await client.enqueue("crawl", LARGE)
            case "before the commit of large args":
                async with database.transaction() as transaction:
                    await client.enqueue("crawl", LARGE, connection=transaction)
                    die()
            case "before the content is deleted":
                FolderStore.delete = die
                await delete_old_payloads(client.payloads.archive(), 30)
            case "before the row is deleted":
                Archive.sweep = _without_its_last_step
                await delete_old_payloads(client.payloads.archive(), 30)
            case "disk full":
                resource.setrlimit(resource.RLIMIT_FSIZE, (MEGABYTE, MEGABYTE))
                try:
                    await client.payloads.save(random_pieces(3), kind="x")
                except StoreUnavailable as error:
                    print(error)
            case _:
                before = peak()
                saved = await client.payloads.save(random_pieces(int(point)), kind="x")
                size = 0
                async for piece in client.payloads.stream(saved):
                    size += len(piece)
                print(size // MEGABYTE, peak() - before)


async def _without_its_last_step(self: Archive, expired: list[tuple[int, str]]) -> int:
    for _, location in expired:
        self.store.delete(location)
    return die()


if __name__ == "__main__":
    trio.run(main, sys.argv[1], sys.argv[2], Path(sys.argv[3]))
