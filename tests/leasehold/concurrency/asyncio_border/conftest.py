"""Each test here runs on each border that this Python can have, in its own trio program."""

from __future__ import annotations

import sys

import pytest

from leasehold.concurrency.asyncio_border.border import Border
from leasehold.concurrency.asyncio_border.chosen import WITHOUT_TRIO_ASYNCIO
from leasehold.concurrency.asyncio_border.stepped import SteppedBorder

NAMES = ["stepped"] if sys.version_info >= WITHOUT_TRIO_ASYNCIO else ["stepped", "trio-asyncio"]


@pytest.fixture(params=NAMES)
def border(request: pytest.FixtureRequest) -> Border:
    """One after the other."""
    if request.param == "stepped":
        return SteppedBorder()
    from leasehold.concurrency.asyncio_border.over_trio_asyncio import TrioAsyncioBorder

    return TrioAsyncioBorder()
