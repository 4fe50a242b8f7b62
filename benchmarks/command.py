"""The command line."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType

from rich.console import Console

from benchmarks import horizon
from benchmarks.catalogue import BENCHMARKS
from benchmarks.figures import Result, Size, say
from benchmarks.machine import describe
from benchmarks.peers.race import main as peers
from benchmarks.report import Report, print_report, write_report
from benchmarks.server import Server, open_server
from benchmarks.server import run as in_asyncio

RESULTS = Path(__file__).parent / "results"
WIDTH = 110


def main(arguments: Sequence[str]) -> int:
    """Measure and report. Returns the exit code: 0 whether or not goals are met."""
    if arguments[:1] == ["peers"]:
        return peers(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="How fast it is, beside raw asyncpg.")
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"of {', '.join(BENCHMARKS)}; all if none is named")
    parser.add_argument("--quick", action="store_const", const="quick", dest="size", help="less than a minute, rough")
    parser.add_argument("--tiny", action="store_const", const="tiny", dest="size", help="only to see whether it runs")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="where the JSON goes; benchmarks/results/… if not given"
    )
    parser.add_argument("--minutes", type=float, help="of horizon: how long each run takes; 10 if not given")
    parser.add_argument("--rate", type=float, help="of horizon: jobs a second; half of the peak if not given")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - BENCHMARKS.keys()
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    with open_server(os.environ.get("DATABASE_URL")) as server:
        lengths = {"minutes": options.minutes, "rate": options.rate}
        report = run(server, options.names or list(BENCHMARKS), options.size or "full", lengths)
    print_report(report, Console(width=None if sys.stdout.isatty() else WIDTH))
    path = options.json or RESULTS / f"{report.started_at.replace(':', '')}-{report.size}.json"
    write_report(report, path)
    say(f"written to {path}")
    return 0


def run(
    server: Server, names: Sequence[str], size: Size, lengths: Mapping[str, float | None] = MappingProxyType({})
) -> Report:
    """Measure on this server; progress goes to standard error. `lengths` are options of horizon."""
    measures = {**BENCHMARKS, "horizon": partial(horizon.measure, **lengths)}
    started_at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    started = time.monotonic()
    results: dict[str, Result] = {}
    with server.template():
        machine = in_asyncio(describe(server))
        for name in names:
            say(f"{name} …")
            results[name] = in_asyncio(measures[name](server, size, lambda text: say(f"  {text}")))
    seconds = round(time.monotonic() - started, 1)
    return Report(started_at=started_at, size=size, machine=machine, seconds=seconds, results=results)
