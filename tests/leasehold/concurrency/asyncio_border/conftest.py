"""Each test here runs on each border that this Python can have, in its own trio program."""

from __future__ import annotations

import sys

import pytest

from leasehold.concurrency.asyncio_border import WITHOUT_TRIO_ASYNCIO, Border
from leasehold.concurrency.stepped import SteppedBorder

NAMES = ["stepped"] if sys.version_info >= WITHOUT_TRIO_ASYNCIO else ["stepped", "trio-asyncio"]


@pytest.fixture(params=NAMES)
def border(request: pytest.FixtureRequest) -> Border:
    """One after the other."""
    if request.param == "stepped":
        return SteppedBorder()
    from leasehold.concurrency.over_trio_asyncio import TrioAsyncioBorder

    return TrioAsyncioBorder()
