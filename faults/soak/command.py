"""`python -m faults django-soak`."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import psycopg
import trio

from benchmarks.server import open_server
from faults.soak.judging import Verdict
from faults.soak.running import LEDGER, Run
from faults.soak.scenes import FULL, QUICK, lasting
from leasehold.database.migrations import migrate

MEGABYTE = 1_048_576


def soak(
    *, quick: bool, seconds: float | None, seed: int, folder: Path | None, dsn: str | None, say: Callable[[str], None]
) -> int:
    """Run the three scenes and print what came of them. Returns the exit code: 1 when something should have held and did not."""
    folder = folder or Path(tempfile.mkdtemp(prefix="leasehold-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[str] = []
    broken: list[str] = []
    with open_server(dsn) as server:
        trio.run(migrate, server.dsn)
        with psycopg.connect(server.dsn, autocommit=True) as eye:
            eye.execute(LEDGER)
        for scene in lasting(QUICK if quick else FULL, seconds):
            say(f"{scene.name} begins; logs lie in {folder}")
            verdict, kills, strays = Run(scene, server.dsn, folder, seed, say).run()
            rows.append(row(scene.name, kills, verdict))
            broken += [f"{scene.name}: {rule}" for rule in verdict.broken]
            broken += [f"{scene.name}: the worker of slot {slot} ended by itself" for slot in strays]
            say(rows[-1])
    print("\n".join([HEAD, *rows]))
    print(f"\nPython {platform.python_version()}, Django {version('django')}, seed {seed}")
    print("\n".join(broken) if broken else "all that should hold holds")
    return 1 if broken else 0


HEAD = (
    "| scene | tasks | SIGKILLs | end states | executions | interrupted, begun again after | completed twice | p50, p95, p99, most"
    " | most waiting | memory of a worker |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)


def row(name: str, kills: int, verdict: Verdict) -> str:
    """A scene as a line of the table."""
    states = ", ".join(f"{count:,} {state}" for state, count in sorted(verdict.states.items()))
    again = f"{verdict.again[0]:.1f} to {verdict.again[-1]:.1f} s" if verdict.again else "-"
    latency = ", ".join(f"{seconds:.3f}" for seconds in verdict.latency) + " s"
    early, late = (size / MEGABYTE for size in verdict.rss)
    counts = f"{verdict.tasks:,} | {kills} | {states} | {verdict.executions:,} | {verdict.interrupted}, {again}"
    memory = f"{early:.0f} → {late:.0f} MiB"
    return f"| {name} | {counts} | {verdict.doubles} | {latency} | {verdict.most_ready} | {memory} |"
