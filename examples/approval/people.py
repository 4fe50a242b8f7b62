"""Four people, four ways to complete an approval. None of them is a worker, and all four call the same SQL function."""

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
    """By a client, under trio or asyncio."""
    await client.chains.complete(approval, decision)
    return "client.chains.complete(…)"


async def with_command_line(environ: Mapping[str, str], approval: int, decision: Decision) -> str:
    """By the command line."""
    command = ["leasehold", "chains", "complete", str(approval), to_json(decision)]
    await run([sys.executable, "-m", *command], environ)
    return shlex.join(command)


async def with_http(gateway: str, approval: int, decision: Decision) -> str:
    """By HTTP, as a web page or a webhook does."""
    path = f"/api/chains/{approval}/complete"
    body = msgspec.json.encode({"output": decision})
    request = urllib.request.Request(gateway + path, data=body, headers={"Content-Type": "application/json"})
    await trio.to_thread.run_sync(lambda: urllib.request.urlopen(request, timeout=10).close())
    return f"POST {path} {body.decode()}"


async def with_sql(dsn: str, approval: int, decision: Decision) -> str:
    """By SQL, as psql or a trigger does."""
    quoted = to_json(decision).replace("'", "''")
    statement = f"select leasehold.complete_chain({approval}, '{quoted}')"
    await run([str(find_programs() / "psql"), "-v", "ON_ERROR_STOP=1", "-c", statement, dsn])
    return f"psql: {statement}"


async def run(command: Sequence[str], environ: Mapping[str, str] | None = None) -> None:
    """Run a command. Raises subprocess.CalledProcessError; its error messages are on standard error."""
    await trio.run_process(command, env=environ, capture_stdout=True)


def to_json(decision: Decision) -> str:
    """The decision as JSON."""
    return msgspec.json.encode(decision).decode()
