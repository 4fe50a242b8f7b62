"""Health and metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from importlib.metadata import version

import msgspec

from leasehold.errors import LeaseholdError, SchemaMismatch
from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.problems import METRICS_MISSING, NOT_READY, Offence, Refusal, classify
from leasehold.gateway.http.replies import Reply
from leasehold.gateway.routing.routes import Call, NoParameters, Routes
from leasehold.gateway.routing.services import GatewayServices, ReadyCheck
from leasehold.observability.metrics import MetricsMissing, Values, expose, single


class HealthBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """The service is well. With `?verbose` each check that was made."""

    status: str
    checks: Sequence[str] = ()


class HealthParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much to tell; `?verbose` needs no value."""

    verbose: str | None = None


TEXT = "text/plain; version=0.0.4; charset=utf-8"
MEASURED_SECONDS = 5.0


routes = Routes("health")


@routes(
    "GET",
    "/metrics",
    "Show metrics for Prometheus",
    response=str,
    media_type=TEXT,
    errors=(METRICS_MISSING,),
    scope=Scope.READ,
    outlasts_database=True,
)
async def show_metrics(call: Call[NoParameters, None]) -> Reply:
    """The database is asked at most once in five seconds. If it does not answer, `leasehold_up` is 0 and only the counts of
    this process are there. Scrape one gateway only, or take the maximum: every gateway reports the same database."""
    services = call.services
    found = await services.asked.get("metrics", MEASURED_SECONDS, services.database_metrics.values)
    try:
        text, content_type = expose([*found.items(), *gateway_values(services)])
    except MetricsMissing as error:
        raise Refusal(METRICS_MISSING, str(error)) from None
    return Reply(text, headers={"Content-Type": content_type})


def gateway_values(services: GatewayServices) -> Iterator[tuple[str, Values]]:
    """What this gateway did."""
    yield "leasehold_build_info", {(version("leasehold"),): 1}
    yield from services.requests.values()
    coalescer, stream = services.coalescer, services.stream
    yield "leasehold_gateway_enqueue_statements_total", single(coalescer.statements)
    yield "leasehold_gateway_enqueue_statements_refused_total", single(coalescer.refused)
    yield "leasehold_gateway_coalesced_jobs_total", single(coalescer.jobs)
    yield "leasehold_gateway_unanswered_jobs", single(coalescer.unanswered)
    yield "leasehold_streams", single(stream.streams)
    yield "leasehold_stream_changes_total", single(stream.changes)
    yield "leasehold_stream_reads_total", single(stream.reads)
    yield "leasehold_stream_overflows_total", single(stream.overflows)


CHECK_SECONDS = 2.0

_left_behind: set[asyncio.Future[None]] = set()


@routes("GET", "/livez", "Whether the process lives")
async def show_life(_call: Call[HealthParameters, None]) -> HealthBody:
    """Whether the process runs. It does not ask the database, since a restart of the gateway would not repair that."""
    return HealthBody("ok")


@routes("GET", "/readyz", "Whether requests can be served", errors=(NOT_READY,))
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


@routes("GET", "/startupz", "Whether requests could be served once", errors=(NOT_READY,))
async def show_startup(call: Call[HealthParameters, None]) -> HealthBody:
    """Whether every check has passed once; from then on it stays so."""
    if not call.services.started.is_set():
        await show_readiness(call)
    return HealthBody("ok")


async def _failure(name: str, check: ReadyCheck) -> Offence | None:
    checking = asyncio.ensure_future(check())
    answered, _ = await asyncio.wait([checking], timeout=CHECK_SECONDS)
    if not answered:
        # The cancel is not waited for: a database that is silent does not answer it either.
        checking.cancel()
        _left_behind.add(checking)
        checking.add_done_callback(_left_behind.discard)
        return Offence(name, f"No answer in {CHECK_SECONDS:g} s")
    try:
        checking.result()
    except SchemaMismatch as error:
        return Offence(name, str(error))
    except LeaseholdError as error:
        return Offence(name, classify(error).title)
    return None
