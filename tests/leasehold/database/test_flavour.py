from __future__ import annotations

import asyncio

import pytest

from leasehold.database import running_flavour


async def test_trio_is_recognised() -> None:
    assert running_flavour() == "trio"


def test_asyncio_is_recognised() -> None:
    async def ask() -> str:
        return running_flavour()

    assert asyncio.run(ask()) == "asyncio"


def test_outside_of_both_it_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="async library"):
        running_flavour()
