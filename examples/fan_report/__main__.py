"""`python -m examples.fan_report [PACKAGE …]`: make the report with jobs, then compare it with a plain count."""

from __future__ import annotations

import sys
import time

import trio

from examples.backstage import Backstage, show

from . import app
from .handlers import QUEUE, Report, discover
from .measures import Docs, add_up, list_files, measure
from .progress import Screen, look, open_screen

PACKAGES = ["aiohttp", "asyncpg", "msgspec", "psutil", "rich", "trio"]
LOOK_SECONDS = 0.1


async def perform(stage: Backstage) -> None:
    """Start the processes, make the report, compare it."""
    packages = sys.argv[1:] or PACKAGES
    files = {package: list_files(package) for package in packages}
    await stage.start("worker.1", "worker.2", "reaper", "scheduler", queues=[QUEUE])
    began = time.monotonic()
    chain = await stage.client.enqueue(discover.new(packages))
    stage.say(f"discover lists the files of {', '.join(packages)}")
    report = await watch(stage, chain)
    stage.say(f"the report is there, {time.monotonic() - began:.1f} s after it was asked for\n")
    print_report(report)
    began = time.monotonic()
    plain = {package: add_up(map(measure, paths)) for package, paths in files.items()}
    print(f"\n  a plain count in one process takes {time.monotonic() - began:.1f} s and says:")
    for package in packages:
        stage.check(package, report.packages[package], plain[package])
    stage.check("all", report.total, add_up(plain.values()))


async def watch(stage: Backstage, chain: int) -> Report:
    """Wait for the output of the chain, and show the progress until then."""
    with open_screen() as screen:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_keep_showing, stage, screen)
            report = await stage.client.wait(chain, kind=discover, timeout=120)
            nursery.cancel_scope.cancel()
        screen.show(await look(stage.client))
    return report


async def _keep_showing(stage: Backstage, screen: Screen) -> None:
    while True:
        screen.show(await look(stage.client))
        stage.troupe.check()
        await trio.sleep(LOOK_SECONDS)


def print_report(report: Report) -> None:
    """Print the packages, the best documented first."""
    for package, docs in sorted(report.packages.items(), key=lambda each: -share(each[1])):
        print(f"  {package:>10}  {share(docs):4.0%} of {docs.names:5} public names documented, {docs.lines:6} lines")


def share(docs: Docs) -> float:
    """The share of names with a docstring, 0 to 1."""
    return docs.documented / docs.names if docs.names else 1.0


if __name__ == "__main__":
    show(app, "examples.fan_report:app", perform)
