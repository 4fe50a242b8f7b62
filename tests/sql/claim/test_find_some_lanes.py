from __future__ import annotations

from leasehold.database import Database
from tests.sql.claim.test_find_lanes import lanes, many


async def test_what_a_worker_serves_is_found_among_hundreds_of_lanes_that_it_does_not(database: Database) -> None:
    for queues in [None, ["q2"], ["q30", "q1", "nobody"], ["nobody"], ["q", "q333", "zz"]]:
        for kinds in [None, ["k2"], ["k5", "k1", "nobody"], ["a", "k33"]]:
            await many(database, 60, 6)
            expected = {
                (f"q{q}", f"k{k}", False)
                for q in range(1, 61)
                for k in range(1, 7)
                if (queues is None or f"q{q}" in queues) and (kinds is None or f"k{k}" in kinds)
            }
            found = await lanes(database, queues, kinds)
            assert len(set(found)) == len(found)
            assert set(found) == expected if len(expected) <= 128 else set(found) <= expected
