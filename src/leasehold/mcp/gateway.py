"""The gateway, asked over HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Protocol

import httpx2

from leasehold.errors import BadInput, LeaseholdError
from leasehold.mcp.operations import Operation

PATIENCE = 60.0
LONGEST_ANSWER = 200_000
"""Characters. An agent reads all of it; a longer one is cut, and says so."""


class GatewayFailed(LeaseholdError):
    """The gateway cannot be reached, or does not speak as a gateway does."""


class Asking(Protocol):
    """What the server needs of a gateway."""

    async def ask(self, operation: Operation, arguments: dict[str, Any]) -> str: ...


class Gateway:
    """A gateway at an address."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def document(self) -> dict[str, Any]:
        """Its OpenAPI document. Raises GatewayFailed."""
        answer = await self._send("GET", "/openapi.json", ())
        try:
            found = answer.json()
            assert "paths" in found
        except (ValueError, AssertionError, TypeError) as error:
            raise GatewayFailed(f"{answer.url} gives no OpenAPI document: is it the address of a gateway?") from error
        return found

    async def ask(self, operation: Operation, arguments: dict[str, Any]) -> str:
        """What it answers.

        Raises:
            BadInput: the gateway refuses; its problem is the message.
            GatewayFailed: it does not answer, or fails.
        """
        path, query = operation.request(arguments)
        answer = await self._send(operation.method, path, query)
        return (
            answer.text
            if len(answer.text) <= LONGEST_ANSWER
            else f"{answer.text[:LONGEST_ANSWER]} … (cut: ask for less)"
        )

    async def _send(self, method: str, path: str, query: Iterable[tuple[str, str]]) -> httpx2.Response:
        try:
            answer = await self._client.request(method, path, params=list(query))
        except httpx2.HTTPError as error:
            what = str(error) or type(error).__name__
            raise GatewayFailed(
                f"the gateway at {self._client.base_url} does not answer: {what}; is it running?"
            ) from error
        if answer.is_success:
            return answer
        refusal = BadInput if answer.is_client_error else GatewayFailed
        raise refusal(f"the gateway answers {answer.status_code}: {answer.text[:2000]}")


@asynccontextmanager
async def open_gateway(url: str, token: str | None) -> AsyncGenerator[Gateway]:
    """A gateway at `url`, for the bearer of a token. Raises BadInput for what is no address."""
    if not url.startswith(("http://", "https://")):
        raise BadInput(f"{url!r} is no address of a gateway; one looks like http://127.0.0.1:8420")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE) as client:
        yield Gateway(client)
