"""The handlers of `/api/tasks/capacity…`."""

from __future__ import annotations

from typing import Any

import msgspec

from leasehold.capacity.records import CapacityRecord
from leasehold.gateway.http.pages import Page
from leasehold.gateway.resources.capacity import handlers
from leasehold.gateway.resources.capacity.bodies import CapacityParameters
from leasehold.gateway.resources.compat.capacity_bodies import NeededWorkers, RolePlan, RoleRecord
from leasehold.gateway.routing.routes import Call, NoParameters

HOURS = [1.0, 4.0, 8.0]


async def list_roles(call: Call[NoParameters, None]) -> Page[RoleRecord]:
    """The tasks, throughput and capacity of each role."""
    found = await handlers.list_capacity(call)
    return Page([RoleRecord(**_named(each)) for each in found.items])


async def show_role(call: Call[CapacityParameters, None]) -> RolePlan:
    """What a role has, and how many workers it needs to be through in one, four and eight hours."""
    asked = msgspec.structs.replace(call.parameters, hours=HOURS)
    plan = await handlers.show_capacity(msgspec.structs.replace(call, parameters=asked))
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
