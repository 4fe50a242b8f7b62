from __future__ import annotations

import json

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput


async def complete(database: Database, definition: object) -> dict[str, object]:
    return json.loads(str(await database.call_value("complete_schedule", json.dumps(definition))))


async def test_every_field_is_there_afterwards_and_doing_it_again_changes_nothing(database: Database) -> None:
    full = await complete(database, {"name": "s", "kind": "a", "every": "PT5M", "missed": None})
    assert full["every"] == 300
    assert full["missed"] == "coalesce"
    assert await complete(database, full) == full


async def test_months_are_no_interval(database: Database, subtests: pytest.Subtests) -> None:
    for every in ["P1M", "1 year", "P1Y2M"]:
        with subtests.test(every=every), pytest.raises(BadInput, match="must not count in months"):
            await complete(database, {"every": every})


async def test_what_is_no_interval_is_refused(database: Database) -> None:
    with pytest.raises(BadInput, match="soon"):
        await complete(database, {"every": "soon"})
