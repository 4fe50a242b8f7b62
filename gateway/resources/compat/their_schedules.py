"""Which schedule a task workers' client means: it names what the tasks do, and not the schedule."""

from __future__ import annotations

from collections.abc import Sequence

from leasehold.client import Client
from leasehold.errors import UnknownSchedule
from leasehold.gateway.http.problems import refuse_field
from leasehold.schedules.records import ScheduleRecord

ROLES_GENERATED = {
    "resync": ("product_resync", "product_refresh", "payload_fetch"),
    "discovery": ("store_discovery",),
}
"""What `/api/tasks/generate/…` makes: tasks of the first of these roles that has a schedule."""
MOST = 1000


async def generator_named(client: Client, name: str) -> str:
    """The schedule of this name; else, for `resync` and `discovery`, the one that makes such tasks.

    Raises:
        UnknownSchedule: there is neither.
        Refusal: several make such tasks.
    """
    roles = ROLES_GENERATED.get(name)
    if roles is None:
        return name
    try:
        return (await client.schedules.get(name)).name
    except UnknownSchedule:
        pass
    for role in roles:
        if found := await client.schedules.list(kind=role, page_size=MOST):
            return _only_one(found, "path.schedule", role)
    told = f"there is no schedule {name!r}, and none makes tasks of the role {' or '.join(roles)}"
    raise UnknownSchedule(told)


async def stores_of(client: Client, role: str) -> str | None:
    """The schedule that makes a task of this role for each store: the one with a query. None: there is no such schedule.

    Raises:
        Refusal: several do.
    """
    found = [each for each in await client.schedules.list(kind=role, page_size=MOST) if each.query is not None]
    return _only_one(found, "$.schedule", role) if found else None


def _only_one(found: Sequence[ScheduleRecord], field: str, role: str) -> str:
    if len(found) > 1:
        names = ", ".join(each.name for each in found[:5])
        raise refuse_field(field, f"Several schedules make tasks of the role {role}: {names}; name one of them")
    return found[0].name
