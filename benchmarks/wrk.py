"""wrk, the load generator of Debian and Homebrew: many connections that each wait for their answer."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from pathlib import Path

import msgspec

SCRIPT = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = [[{body}]]
"""
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}
RATE = re.compile(r"Requests/sec:\s+([\d.]+)")
TIME = re.compile(r"^\s+(50|99)%\s+([\d.]+)(us|ms|s|m)$", re.MULTILINE)
TOTAL = re.compile(r"(\d+) requests in")
WRONG = re.compile(r"Non-2xx or 3xx responses: (\d+)|Socket errors: (.+)")


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """What so many connections got in a while."""

    connections: int
    requests: int
    per_second: float
    p50_ms: float
    p99_ms: float


def find_wrk() -> str | None:
    """Its path, None where it is not installed."""
    return shutil.which("wrk")


async def load(url: str, body: str, connections: int, seconds: int) -> Load:
    """POST the body from so many connections. Raises RuntimeError unless every answer was a success."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(SCRIPT.format(body=body))
        script.flush()
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", script.name, url]
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=Path("/"))
        said = (await process.communicate())[0].decode()
    return read_report(said, connections)


def read_report(said: str, connections: int) -> Load:
    """The report of wrk, taken apart."""
    rate, total, wrong = RATE.search(said), TOTAL.search(said), WRONG.search(said)
    if rate is None or total is None or wrong is not None:
        raise RuntimeError(f"wrk did not get what it asked for:\n{said}")
    times = {share: float(value) * UNITS[unit] * 1000 for share, value, unit in TIME.findall(said)}
    return Load(
        connections=connections,
        requests=int(total[1]),
        per_second=float(rate[1]),
        p50_ms=times["50"],
        p99_ms=times["99"],
    )
