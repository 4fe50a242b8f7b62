"""What the dashboard costs on a large database: `python tools/dashboard_costs.py --finished 1000000 --pending 100000`.

It makes a Postgres of its own in a temporary folder, fills it, starts a gateway, and asks for every address that a page asks
for. It prints the CPU milliseconds of Postgres and of the gateway for each request, and how long the fastest one took.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Mapping, Sequence

import aiohttp
import msgspec

from benchmarks.large import fill_large
from benchmarks.processes import Process, running_gateway
from benchmarks.server import Connection, Server, connected, open_server, run

GOAL_DATABASE, GOAL_SERVER = 50.0, 150.0
SHARED = {"/api/overview": 2.1, "/api/doctor": 10.1}
"""Addresses whose answers several callers share, and for how many seconds; they are asked for when that is over."""
MARKED = """
select (select max(id) from leasehold.jobs where state = 'pending') as job,
       (select max(id) from leasehold.finished_jobs where state = 'failed') as failed,
       (select max(chain_id) from leasehold.finished_jobs) as chain,
       (select min(incarnation::text) from leasehold.workers) as worker,
       (select fingerprint from leasehold.list_failure_groups() limit 1) as group,
       to_char(now() - interval '1 day', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
"""
"""What the pages of single things are asked about."""


class Cost(msgspec.Struct, frozen=True):
    """Milliseconds of a request: CPU of Postgres, CPU of the gateway, and from asking to the answer at best; and its bytes."""

    database: float
    gateway: float
    fastest: float
    size: int


def pages(job: int, failed: int, chain: int, worker: str, group: str, since: str) -> Mapping[str, Sequence[str]]:
    """The addresses that each page asks for."""
    fields = "fields=id,state,kind,queue,key,priority,attempt,max_attempts,created_at,run_at,started_at,finished_at,worker_id,error"
    jobs = f"/api/jobs?limit=50&{fields}"
    queue, schedule = "queue%203", "schedule%207"
    parts = ("why", "timeline", "errors", "logs", "progress", "blockers")
    return {
        "overview": ["/api/overview"],
        "troubles": ["/api/troubles"],
        "jobs": [jobs],
        "jobs, failed": [f"{jobs}&state=failed"],
        "jobs, of a kind and queue": [f"{jobs}&kind=kind%203&queue={queue}"],
        "jobs, of a key": [f"{jobs}&key=key%2017"],
        "jobs, by args": [f"{jobs}&args=%7B%22order%22%3A17%7D"],
        "jobs, of a worker": [f"{jobs}&worker=worker-7"],
        "jobs, nothing found": [f"{jobs}&kind=nothing"],
        "job": [f"/api/jobs/{job}", *(f"/api/jobs/{job}/{part}" for part in parts), "/api/jobs?kind=kind%203&limit=10"],
        "job, failed": [f"/api/jobs/{failed}", *(f"/api/jobs/{failed}/{part}" for part in parts)],
        "chains": ["/api/chains?limit=50"],
        "chain": [f"/api/chains/{chain}", f"/api/chains/{chain}/graph", f"/api/chains/{chain}/jobs"],
        "queues": ["/api/queues", "/api/overview"],
        "queue": [
            "/api/queues", "/api/overview", *(f"/api/queues/{queue}/{part}" for part in ("why", "limits", "groups")),
            f"/api/queues/{queue}/history?hours=168&points=168",
        ],
        "workers": ["/api/workers", "/api/leases"],
        "worker": ["/api/workers?stopped=true", f"/api/leases?worker={worker}", f"/api/workers/{worker}/commands?limit=20"],
        "schedules": ["/api/schedules?limit=100", "/api/schedule-history/recent?count=20"],
        "schedule": [
            f"/api/schedules/{schedule}", f"/api/schedules/{schedule}/preview?count=5",
            f"/api/schedules/{schedule}/history?limit=20",
        ],
        "capacity": ["/api/jobs/capacity"],
        "capacity of a queue": [
            f"/api/jobs/capacity/{queue}", f"/api/jobs/capacity/{queue}/hindsight?hours=4",
            f"/api/jobs/capacity/{queue}/what-if?more=50",
        ],
        "failures": [f"/api/failures?since={since}"],
        "failures of a group": [f"/api/failures/{group}?since={since}"],
        "doctor": ["/api/doctor", "/api/findings?if_small=true"],
        "payloads": ["/api/payloads?limit=50"],
        "egress": ["/api/egress"],
        "tokens": ["/api/tokens"],
        "audit log": ["/api/audit?limit=50"],
    }  # fmt: skip


async def weigh(url: str, server: Server, gateway: Process, session: aiohttp.ClientSession, times: int) -> Cost:
    """A request, asked for `times` times after two that warm up. What Postgres does by itself between them does not count."""
    fastest, size = float("inf"), 0
    database = serving = 0.0
    pause = next((seconds for path, seconds in SHARED.items() if url.endswith(path)), 0.0)
    for number in range(times + 2):
        await asyncio.sleep(pause)
        before = server.cpu_seconds(), gateway.cpu_seconds()
        began = time.perf_counter()
        async with session.get(url) as answer:
            size = len(await answer.read())
            if answer.status >= 400:
                raise RuntimeError(f"{url} was answered with {answer.status}: {await answer.text()}")
        fastest = min(fastest, time.perf_counter() - began)
        if number >= 2:
            database += server.cpu_seconds() - before[0]
            serving += gateway.cpu_seconds() - before[1]
    return Cost(database / times * 1000, serving / times * 1000, fastest * 1000, size)


async def measure(server: Server, finished: int, pending: int, times: int) -> int:
    """Fill, ask and print; returns how many pages cost more than they should."""
    async with server.database() as dsn, connected(dsn) as connection:
        await fill_large(connection, finished, pending, say)
        await connection.execute("alter system set autovacuum = off")
        await connection.execute("select pg_reload_conf()")
        async with running_gateway(dsn) as (gateway, root), aiohttp.ClientSession() as session:
            return await print_costs(root, server, gateway, session, connection, times)


async def print_costs(
    root: str, server: Server, gateway: Process, session: aiohttp.ClientSession, connection: Connection, times: int
) -> int:
    """A row for each page, and one for each of its addresses."""
    [row] = await connection.fetch(MARKED)
    over = 0
    say(f"{'':52}{'Postgres':>10}{'gateway':>10}{'fastest':>10}{'bytes':>12}   (ms of CPU; ms)")
    for page, addresses in pages(**dict(row)).items():
        costs = [await weigh(root + each, server, gateway, session, times) for each in addresses]
        total = Cost(*(sum(getattr(each, name) for each in costs) for name in Cost.__struct_fields__))
        is_over = total.database > GOAL_DATABASE or total.database + total.gateway > GOAL_SERVER
        over += is_over
        say(line_of(page, total) + ("   <--" if is_over else ""))
        for address, cost in zip(addresses, costs, strict=True) if len(addresses) > 1 else ():
            say(line_of(f"    {address[:46]}", cost))
    return over


def line_of(name: str, cost: Cost) -> str:
    """A row of the table."""
    return f"{name:52}{cost.database:10.1f}{cost.gateway:10.1f}{cost.fastest:10.1f}{cost.size:12,}"


def say(text: str) -> None:
    """A line of what happens, at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--finished", type=int, default=1_000_000, help="finished jobs, over three days")
    parser.add_argument("--pending", type=int, default=100_000, help="jobs that have not finished")
    parser.add_argument("--times", type=int, default=10, help="how often each address is asked for")
    given = parser.parse_args()
    with open_server(None) as server, server.template():
        over = run(measure(server, given.finished, given.pending, given.times))
    say(f"{over} pages cost more than {GOAL_DATABASE:g} ms of Postgres, or {GOAL_SERVER:g} ms of both")


if __name__ == "__main__":
    main()
