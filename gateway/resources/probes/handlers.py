"""The handlers of the probes."""

from __future__ import annotations

import asyncio

from leasehold.errors import LeaseholdError
from leasehold.gateway.http.problems import NOT_READY, Offence, Refusal, classify
from leasehold.gateway.resources.probes.bodies import HealthBody, HealthParameters
from leasehold.gateway.routing.routes import Call
from leasehold.gateway.routing.services import Check

CHECK_SECONDS = 2.0

_left_behind: set[asyncio.Task[None]] = set()


async def show_life(_call: Call[HealthParameters, None]) -> HealthBody:
    """Whether the process runs. It does not ask the database, since a restart of the gateway would not repair that."""
    return HealthBody("ok")


async def show_readiness(call: Call[HealthParameters, None]) -> HealthBody:
    """Whether requests can be served: every check passes."""
    checks = call.services.checks
    failures = await asyncio.gather(*(_failure(name, check) for name, check in checks.items()))
    if offences := [failure for failure in failures if failure is not None]:
        failed = ", ".join(offence.path for offence in offences)
        raise Refusal(NOT_READY, f"Not well: {failed}.", offences=offences)
    if call.services.stopping.is_set():
        raise Refusal(NOT_READY, "It stops.", offences=[Offence("draining", "It takes no more requests")])
    call.services.started.set()
    return HealthBody("ok", tuple(checks) if call.parameters.verbose is not None else ())


async def show_startup(call: Call[HealthParameters, None]) -> HealthBody:
    """Whether every check has passed once; from then on it stays so."""
    if not call.services.started.is_set():
        await show_readiness(call)
    return HealthBody("ok")


async def _run(check: Check) -> None:
    await check()


async def _failure(name: str, check: Check) -> Offence | None:
    checking = asyncio.create_task(_run(check))
    answered, _ = await asyncio.wait([checking], timeout=CHECK_SECONDS)
    if not answered:
        # Not waited for: a database that does not answer a question does not answer that it is taken back either.
        checking.cancel()
        _left_behind.add(checking)
        checking.add_done_callback(_left_behind.discard)
        return Offence(name, f"No answer in {CHECK_SECONDS:g} s")
    try:
        checking.result()
    except LeaseholdError as error:
        return Offence(name, classify(error).title)
    return None
