"""Programs with a client, in either flavour."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import Parameter, Signature, signature
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


def with_client(
    *, stores: bool = False, **options: Any
) -> Callable[[Callable[..., Awaitable[None]]], Callable[..., None]]:
    """A test that is a program with a `client`, in either flavour; options go to `open_client`. `stores`: in `tmp_path`."""

    def decorate(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
        def run(under: Under, **fixtures: Any) -> None:
            async def work(client: Client) -> None:
                await test(client=client, **fixtures)

            under(work, **({"payloads": str(fixtures["tmp_path"])} if stores else {}), **options)

        others = [each for each in signature(test).parameters.values() if each.name != "client"]
        given = [Parameter("under", Parameter.POSITIONAL_OR_KEYWORD), *others]
        run.__name__, run.__doc__ = test.__name__, test.__doc__
        vars(run)["__signature__"] = Signature(given)
        vars(run)["pytestmark"] = getattr(test, "pytestmark", [])
        return run

    return decorate
