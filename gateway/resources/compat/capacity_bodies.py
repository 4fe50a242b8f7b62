"""Capacity as task workers' dashboards read it: the columns of `v_worker_capacity` under their names, beside ours."""

from __future__ import annotations

import msgspec

from leasehold.capacity.records import CapacityRecord, Scenario


class RoleRecord(CapacityRecord, frozen=True, kw_only=True):
    """What a role has, does and can do."""

    role: str
    pending_tasks: int
    ready_tasks: int
    claimed_tasks: int
    running_tasks: int
    avg_duration_sec: float | None
    tasks_per_worker_hour: float | None
    estimated_hours_to_drain: float | None


class NeededWorkers(msgspec.Struct, frozen=True, kw_only=True):
    """How many workers it takes to be through in one, four and eight hours; null where nobody knows."""

    for_1_hour: int | None
    for_4_hours: int | None
    for_8_hours: int | None


class RolePlan(RoleRecord, frozen=True, kw_only=True):
    """A role with the workers that it needs; `workers_needed` is for 1, 4 and 8 hours, whatever `hours` asks."""

    workers_needed: NeededWorkers
    target_wait: float
    desired_workers: int
    scenarios: list[Scenario]
