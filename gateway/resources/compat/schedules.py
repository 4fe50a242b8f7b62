"""A schedule as task workers' clients change it: by a part of it, where our PUT takes the whole."""

from __future__ import annotations

from typing import Any

import msgspec

from leasehold.errors import UnknownSchedule
from leasehold.gateway.http.problems import refuse_field
from leasehold.gateway.http.reading import decode_body
from leasehold.gateway.resources.compat.schedule_body import HOUR
from leasehold.gateway.resources.schedules import handlers
from leasehold.gateway.resources.schedules.bodies import ChangeParameters
from leasehold.gateway.routing.routes import Call
from leasehold.schedules.definition import ScheduleChange, ScheduleDefinition
from leasehold.schedules.records import ScheduleRecord

WHOLE = msgspec.json.Decoder(ScheduleDefinition)
CLASHES = {"role": ("kind", "queue"), "interval_hours": ("every", "cron", "at"), "state_code": ("args", "query")}
"""Two words for one thing never meet in one body."""


async def put_schedule_or_part(call: Call[ChangeParameters, msgspec.Struct]) -> ScheduleRecord:
    """Changes what is given of a schedule that there is, in their words (`role`, `interval_hours`, `state_code`) or in ours. With
    `name` and `kind` it is the whole definition: what is left out takes its default, and a schedule that is not there is made."""
    given = handlers.fields_of(call.body)
    if {"name", "kind"} <= given.keys():
        whole = decode_body(WHOLE, call.raw, call.services.limits)
        return await handlers.put_schedule(msgspec.structs.replace(call, body=whole))  # pyright: ignore[reportArgumentType]
    current = await _schedule_that_is_there(call)
    if given.pop("name", current.name) != current.name:
        raise refuse_field("$.name", "A schedule cannot be given another name")
    changes = changes_of(given, current)
    asked = call.parameters
    if "args" in changes and asked.revision is None and "state_code" in given:  # made of the args that were read
        asked = msgspec.structs.replace(asked, revision=current.revision)
    part = msgspec.structs.replace(call, parameters=asked, body=ScheduleChange(**changes))  # pyright: ignore[reportArgumentType]
    return await handlers.change_schedule(part)  # pyright: ignore[reportArgumentType]


async def _schedule_that_is_there(call: Call[ChangeParameters, msgspec.Struct]) -> ScheduleRecord:
    name = call.parameters.name
    try:
        return await call.services.client.schedules.get(name)
    except UnknownSchedule as error:
        raise UnknownSchedule(
            f"there is no schedule {name!r}: a part changes one; give name and kind to make it"
        ) from error


def changes_of(given: dict[str, Any], current: ScheduleRecord) -> dict[str, Any]:
    """The part in our words. Raises Refusal for two words for one thing, and for the state of a schedule whose stores a query
    gives. Pure."""
    for theirs, ours in CLASHES.items():
        for name in ours:
            if theirs in given and name in given:
                raise refuse_field(f"$.{name}", f"It does not go with {theirs}: give one of them")
    changes = {name: value for name, value in given.items() if name not in CLASHES}
    if "role" in given:
        changes |= {"kind": given["role"], "queue": given["role"]}
    if "interval_hours" in given:
        changes["every"] = given["interval_hours"] * HOUR
    if "state_code" in given:
        changes["args"] = _args_with(given["state_code"], current)
    return changes


def _args_with(state_code: str | None, current: ScheduleRecord) -> dict[str, Any]:
    """The schedule's args with this state; without one for None."""
    if current.query is not None and current.args.get("state_code") != state_code:
        raise refuse_field("$.state_code", "Which stores it takes stands in the query of this schedule: change `query`")
    rest = {name: value for name, value in current.args.items() if name != "state_code"}
    return rest if state_code is None else {**rest, "state_code": state_code}
