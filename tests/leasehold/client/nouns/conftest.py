"""Each call of a noun crosses into the loop of the database in one place, which the tests of the client try from both flavours.

A noun that takes what belongs to a flavour, such as an iterator, says so in its tests.
"""

from __future__ import annotations

import pytest


@pytest.fixture
def flavour() -> str:
    return "trio"
