from __future__ import annotations

from math import inf, nan

import pytest

from leasehold.capacity.forecast import QueueLoad, desired_slots
from leasehold.database import Database
from leasehold.errors import BadInput

LOADS = [0.0, 0.01, 0.5, 1.0, 3.0, 10.0, 99.9, 5000.0, 250_000.0]


async def test_it_agrees_with_the_forecast(database: Database) -> None:
    for patience in [0.001, 1.0, 100.0]:
        for variation in [0.0, 1.0, 25.0]:
            found = [await database.call_value("desired_slots", load, variation, patience, 0.95) for load in LOADS]
            assert found == [
                desired_slots(QueueLoad(arrivals_per_second=load, run_seconds=1.0, run_variation=variation), patience)
                for load in LOADS
            ]


@pytest.mark.parametrize(
    "values",
    [
        (None, 1.0, 1.0, 0.95),
        (1.0, -1.0, 1.0, 0.95),
        (1.0, 1.0, nan, 0.95),
        (1.0, 1.0, -inf, 0.95),
        (1.0, 1.0, 1.0, 1.0),
    ],
)
async def test_what_no_number_of_slots_fulfils_is_refused(values: tuple[float | None, ...], database: Database) -> None:
    """A load of null took for ever."""
    with pytest.raises(BadInput, match="load must not be null"):
        await database.call_value("desired_slots", *values)
