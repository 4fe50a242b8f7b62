"""What becomes of a queue with another number of workers and another load. Pure arithmetic over `forecast.py`."""

from __future__ import annotations

from math import ceil

import msgspec

from leasehold.capacity.forecast import QueueLoad, forecast, slots_now
from leasehold.capacity.records import CapacityRecord, Scenario


class WhatIf(msgspec.Struct, frozen=True, kw_only=True):
    """A queue as it is, and as it would be.

    Attributes:
        queue: which.
        present, supposed: None where nobody knows how long a job takes.
        desired_workers: how many the supposed load needs, so that 95 of 100 jobs start within the target; None likewise.
    """

    queue: str
    present: Scenario | None
    supposed: Scenario | None
    desired_workers: int | None


def suppose(has: CapacityRecord, *, workers: int | None, more: float, target_wait: float) -> WhatIf:
    """What becomes of a queue with `workers` workers (as many as now if None) when arrivals grow by the share `more`."""
    load = has.load
    if load is None:
        return WhatIf(queue=has.queue, present=None, supposed=None, desired_workers=None)
    wanted = ceil(slots_now(load.times(1 + more), target_wait) / has.slots_per_worker)
    load = msgspec.structs.replace(load, backlog=has.ready + has.waiting)
    count = has.active_workers if workers is None else workers
    return WhatIf(
        queue=has.queue,
        present=_scenario(has, "as it is", has.active_workers, load),
        supposed=_scenario(has, f"{more:+.0%} load", count, load.times(1 + more)),
        desired_workers=wanted,
    )


def _scenario(has: CapacityRecord, name: str, workers: int, load: QueueLoad) -> Scenario:
    slots = round(workers * has.slots_per_worker)
    return Scenario(
        name=name, workers=workers, arrivals_per_second=load.arrivals_per_second, forecast=forecast(load, slots)
    )
