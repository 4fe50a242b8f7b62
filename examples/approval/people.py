"""Four people, four ways to complete an approval. None of them is a worker, and all say the same to the database."""

from __future__ import annotations

import shlex
import sys
import urllib.request
from collections.abc import Mapping, Sequence

import msgspec
import trio

from leasehold import Client
from leasehold.database.embedded import find_programs

from .handlers import Decision


async def with_python(client: Client, approval: int, decision: Decision) -> str:
    """Any program with a client, under trio or asyncio."""
    await client.chains.complete(approval, decision)
    return "client.chains.complete(…)"


async def with_command_line(environ: Mapping[str, str], approval: int, decision: Decision) -> str:
    """Somebody at a terminal."""
    command = ["leasehold", "chains", "complete", str(approval), to_json(decision)]
    await run([sys.executable, "-m", *command], environ)
    return shlex.join(command)


async def with_http(gateway: str, approval: int, decision: Decision) -> str:
    """A web page, or a webhook."""
    path = f"/api/chains/{approval}/complete"
    body = msgspec.json.encode({"output": decision})
    request = urllib.request.Request(gateway + path, data=body, headers={"Content-Type": "application/json"})
    await trio.to_thread.run_sync(lambda: urllib.request.urlopen(request, timeout=10).close())
    return f"POST {path} {body.decode()}"


async def with_sql(dsn: str, approval: int, decision: Decision) -> str:
    """Somebody in psql, or a trigger of the database."""
    quoted = to_json(decision).replace("'", "''")
    statement = f"select leasehold.complete_chain({approval}, '{quoted}')"
    await run([str(find_programs() / "psql"), "-v", "ON_ERROR_STOP=1", "-c", statement, dsn])
    return f"psql: {statement}"


async def run(command: Sequence[str], environ: Mapping[str, str] | None = None) -> None:
    """Raises subprocess.CalledProcessError, with what it said on our standard error."""
    await trio.run_process(command, env=environ, capture_stdout=True)


def to_json(decision: Decision) -> str:
    """As it is stored."""
    return msgspec.json.encode(decision).decode()
