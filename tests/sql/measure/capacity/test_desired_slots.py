from __future__ import annotations

from leasehold.capacity.forecast import QueueLoad, desired_slots
from leasehold.database import Database

LOADS = [0.0, 0.01, 0.5, 1.0, 3.0, 10.0, 99.9, 5000.0, 250_000.0]


async def test_it_agrees_with_the_forecast(database: Database) -> None:
    for patience in [0.001, 1.0, 100.0]:
        for variation in [0.0, 1.0, 25.0]:
            found = [await database.call_value("desired_slots", load, variation, patience, 0.95) for load in LOADS]
            assert found == [
                desired_slots(QueueLoad(arrivals_per_second=load, run_seconds=1.0, run_variation=variation), patience)
                for load in LOADS
            ]
