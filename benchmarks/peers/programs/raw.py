"""The floor: the shortest statements over plain asyncpg that enqueue, claim and complete anything at all."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import asyncpg

DRIVER: Any = asyncpg
TABLE = """
create table if not exists raw_jobs (id bigint generated always as identity primary key, kind text not null, args jsonb not null,
    state text not null default 'pending', created_at timestamptz not null default now());
create index if not exists raw_pending on raw_jobs (id) where state = 'pending'
"""
INSERT = "insert into raw_jobs (kind, args) values ('noop', $1::jsonb) returning id"
MANY = "insert into raw_jobs (kind, args) select 'noop', a from unnest($1::jsonb[]) a returning id"
CLAIM = """
update raw_jobs set state = 'running' where id = any (array(
    select id from raw_jobs where state = 'pending' order by id limit 400 for update skip locked)) returning id, args
"""
DONE = "delete from raw_jobs where id = any ($1::bigint[])"
RUNG = "notify raw_jobs"


async def act(connection: Any, action: str, count: int) -> None:
    """Enqueue over one connection."""
    if action == "bulk":
        for _ in range(count // 1000):
            await connection.fetch(MANY, ["{}"] * 1000)
    elif action == "ping":
        for _ in range(count):
            await connection.fetch(INSERT, json.dumps({"at": time.time()}))
            await connection.execute(RUNG)
            await asyncio.sleep(0.05)
    else:
        for _ in range(count):
            await connection.fetch(INSERT, "{}")


async def work(connection: Any) -> None:
    """Claim and complete until the process is ended."""
    rung = asyncio.Event()

    def ring(*_heard: object) -> None:
        rung.set()

    await connection.add_listener("raw_jobs", ring)
    while True:
        rung.clear()
        rows = await connection.fetch(CLAIM)
        for row in rows:
            if at := json.loads(row["args"]).get("at"):
                print((time.time() - at) * 1000, flush=True)
        if rows:
            await connection.execute(DONE, [row["id"] for row in rows])
        else:
            await rung.wait()


async def main(dsn: str, action: str, count: int, tasks: int) -> None:
    """Connect, then measure."""
    connections = [await DRIVER.connect(dsn) for _ in range(tasks)]
    if action == "prepare":
        await connections[0].execute(TABLE)
    elif action == "work":
        await work(connections[0])
    else:
        started, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(act(each, action, count // tasks) for each in connections))
        print(json.dumps({"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}))


if __name__ == "__main__":
    given = [*sys.argv[1:], "0", "1"][:4]
    asyncio.run(main(given[0], given[1], int(given[2]), int(given[3])))
