from __future__ import annotations

import pytest

from leasehold.database import running_flavour
from tests.support.flavours import in_flavour


async def test_trio_is_recognised() -> None:
    assert running_flavour() == "trio"


def test_asyncio_is_recognised() -> None:
    async def main() -> None:
        assert running_flavour() == "asyncio"

    in_flavour("asyncio", main)


def test_outside_of_both_it_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="async library"):
        running_flavour()
