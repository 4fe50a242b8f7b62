"""Programs with a client, in either flavour."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from leasehold import Client, open_client
from tests.support.flavours import in_flavour

Work = Callable[[Client], Awaitable[None]]
Under = Callable[..., None]


@pytest.fixture(params=["trio", "asyncio"])
def flavour(request: pytest.FixtureRequest) -> str:
    """Of the program."""
    return request.param


@pytest.fixture
def under(flavour: str, database_url: str) -> Under:
    """`under(work)`: run work with a client as a program of that flavour would; options go to `open_client`."""

    def run(work: Work, **options: Any) -> None:
        async def main() -> None:
            async with open_client(database_url, **options) as client:
                await work(client)

        in_flavour(flavour, main)

    return run
