"""`/api/tasks/capacity…`: capacity as task workers' dashboards read it."""

from __future__ import annotations

from typing import Any

import msgspec

from leasehold.capacity.records import CapacityRecord, Scenario
from leasehold.gateway.http.fields import Page
from leasehold.gateway.nouns import capacity
from leasehold.gateway.nouns.capacity import CapacityParameters
from leasehold.gateway.routing.routes import Call, NoParameters


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


HOURS = [1.0, 4.0, 8.0]


async def list_roles(call: Call[NoParameters, None]) -> Page[RoleRecord]:
    """The tasks, throughput and capacity of each role."""
    found = await capacity.list_capacity(call)
    return Page([RoleRecord(**_named(each)) for each in found.items])


async def show_role(call: Call[CapacityParameters, None]) -> RolePlan:
    """What a role has, and how many workers it needs to be through in one, four and eight hours."""
    asked = msgspec.structs.replace(call.parameters, hours=HOURS)
    plan = await capacity.show_capacity(msgspec.structs.replace(call, parameters=asked))
    one, four, eight = (each.workers for each in plan.workers_needed)
    return RolePlan(
        **_named(plan.capacity),
        workers_needed=NeededWorkers(for_1_hour=one, for_4_hours=four, for_8_hours=eight),
        target_wait=plan.target_wait,
        desired_workers=plan.desired_workers,
        scenarios=plan.scenarios,
    )


def _named(has: CapacityRecord) -> dict[str, Any]:
    return {
        **msgspec.structs.asdict(has),
        "role": has.queue,
        "pending_tasks": has.pending,
        "ready_tasks": has.ready,
        "claimed_tasks": has.claimed,
        "running_tasks": has.running,
        "avg_duration_sec": has.avg_seconds,
        "tasks_per_worker_hour": has.jobs_per_worker_hour,
        "estimated_hours_to_drain": has.hours_to_drain,
    }
