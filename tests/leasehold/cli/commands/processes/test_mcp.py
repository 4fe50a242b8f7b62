"""`leasehold mcp` as a client of the official SDK sees it, before a real gateway."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from leasehold.mcp.operations import CHANGES, LOOKS
from tests.gateway.fakes.running import RunningGateway, running_service
from tests.leasehold.cli.conftest import Cli

CODE = re.compile(r"confirm='(\w+)'")


@asynccontextmanager
async def agent(gateway: RunningGateway, *flags: str) -> AsyncGenerator[Client]:
    words = ["-m", "leasehold", "mcp", "--url", gateway.url(), *flags]
    async with Client(StdioServerParameters(command=sys.executable, args=words), read_timeout_seconds=120) as client:
        yield client


async def ask(client: Client, name: str, **arguments: Any) -> str:
    """What a tool answers; fails where it refuses."""
    answer = await client.call_tool(name, arguments)
    assert not answer.is_error, answer.content
    return said(answer)


async def refused(client: Client, name: str, **arguments: Any) -> str:
    answer = await client.call_tool(name, arguments)
    assert answer.is_error
    return said(answer)


def said(answer: types.CallToolResult) -> str:
    (part,) = answer.content
    assert isinstance(part, types.TextContent)
    return part.text


async def test_an_agent_looks_at_jobs_and_changes_nothing(database_url: str) -> None:
    with running_service(database_url) as gateway:
        job = gateway.call("POST", "/api/jobs", {"kind": "echo", "queue": "mail"}).body["id"]
        async with agent(gateway) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == set(LOOKS)
            assert json.loads(await ask(client, "show_job", id=job))["queue"] == "mail"
            assert "no worker is alive" in await ask(client, "explain_job", id=job)
            assert "there is no tool 'cancel_job'" in await refused(client, "cancel_job", id=job)
            assert "takes no argument 'job'" in await refused(client, "show_job", job=job)
            assert "404" in await refused(client, "show_job", id=job + 1)
        assert gateway.call("GET", f"/api/jobs/{job}").body["state"] == "pending"


async def test_a_change_takes_two_calls(database_url: str) -> None:
    with running_service(database_url) as gateway:
        job = gateway.call("POST", "/api/jobs", {"kind": "echo"}).body["id"]
        async with agent(gateway, "--changes") as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == {*LOOKS, *CHANGES}
            preview = await ask(client, "cancel_job", id=job, reason="a test")
            assert "Nothing has been changed yet" in preview
            assert gateway.call("GET", f"/api/jobs/{job}").body["state"] == "pending"
            found = CODE.search(preview)
            assert found is not None
            assert "does not confirm" in await refused(client, "cancel_job", id=job, confirm=found[1])
            again = CODE.search(await ask(client, "cancel_job", id=job, reason="a test"))
            assert again is not None
            await ask(client, "cancel_job", id=job, reason="a test", confirm=again[1])
        assert gateway.call("GET", f"/api/jobs/{job}").body["state"] == "cancelled"


def test_an_address_that_leads_nowhere_is_told(run_cli: Cli) -> None:
    for url, code, words in (
        ("127.0.0.1:8420", 2, "is no address of a gateway"),
        ("http://127.0.0.1:9", 1, "does not answer"),
    ):
        done = run_cli("mcp", "--url", url)
        assert (done.code, done.out, words in done.err) == (code, "", True), done.err
