"""`GET /api/doctor`: what `leasehold doctor` says of the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from leasehold.gateway.http.problems import NOT_READY, Refusal
from leasehold.gateway.metrics.checkup import FRESH_SECONDS
from leasehold.gateway.routing.routes import Call


class ChecksParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How old the answer may be."""

    within: Annotated[
        float,
        Meta(ge=FRESH_SECONDS, le=3600, description="Seconds; what was found longer ago is looked at again."),
    ] = FRESH_SECONDS


class CheckBody(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at: what was found, and what to do about it.

    Attributes:
        verdict: `problem` calls for somebody; `advice` could be better; `skipped`: could not be looked at.
    """

    name: str
    verdict: Literal["ok", "advice", "problem", "skipped"]
    detail: str
    advice: str | None


class ChecksBody(msgspec.Struct, frozen=True, kw_only=True):
    """All checks in their order. `problems`, `advised`: how many have that verdict."""

    problems: int
    advised: int
    items: Sequence[CheckBody]


async def list_checks(call: Call[ChecksParameters, None]) -> ChecksBody:
    """The checks of `leasehold doctor` that are about the server, made by this gateway with the rights of its role. They take
    Postgres about 100 ms of CPU, so all who ask share the last ones as long as these are fresh enough for them. What concerns
    the machine and the settings of a worker is told by the command alone. It needs the scope operate, because it tells of other
    sessions of the server and what they ask."""
    checkup = call.services.checkup
    if checkup is None:
        raise Refusal(NOT_READY, "This gateway has no database to examine.")
    found = await checkup.checks(call.parameters.within)
    return ChecksBody(
        problems=sum(each.verdict == "problem" for each in found),
        advised=sum(each.verdict == "advice" for each in found),
        items=[
            CheckBody(name=each.name, verdict=each.verdict, detail=each.detail, advice=each.advice) for each in found
        ],
    )
