"""`GET /metrics`: what the database holds and what this gateway did, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

from leasehold.gateway.http.problems import METRICS_MISSING, Refusal
from leasehold.gateway.http.replies import Reply
from leasehold.gateway.routing.routes import Call, NoParameters
from leasehold.gateway.routing.services import GatewayServices
from leasehold.observability.metrics import MetricsMissing, Values, expose, single

TEXT = "text/plain; version=0.0.4; charset=utf-8"
ACCEPT = "Accept"


async def show_metrics(call: Call[NoParameters, None]) -> Reply:
    """The database is asked at most once in five seconds. If it does not answer, `leasehold_up` is 0 and only the counts of
    this process are there. Scrape one gateway only, or take the maximum: every gateway reports the same database."""
    found = {} if call.services.database_metrics is None else dict(await call.services.database_metrics.values())
    try:
        text, content_type = expose([*found.items(), *gateway_values(call.services)])
    except MetricsMissing as error:
        raise Refusal(METRICS_MISSING, str(error)) from None
    return Reply(text, headers={"Content-Type": content_type})


def gateway_values(services: GatewayServices) -> Iterator[tuple[str, Values]]:
    """What this gateway did."""
    yield "leasehold_build_info", {(version("leasehold"),): 1}
    yield from services.requests.values()
    coalescer = services.coalescer.statistics()
    yield "leasehold_gateway_enqueue_statements_total", single(coalescer.statements)
    yield "leasehold_gateway_enqueue_statements_refused_total", single(coalescer.refused)
    yield "leasehold_gateway_coalesced_jobs_total", single(coalescer.jobs)
    yield "leasehold_gateway_unanswered_jobs", single(coalescer.unanswered)
    if services.stream is not None:
        stream = services.stream.statistics()
        yield "leasehold_streams", single(stream.streams)
        yield "leasehold_stream_changes_total", single(stream.changes)
        yield "leasehold_stream_reads_total", single(stream.reads)
        yield "leasehold_stream_overflows_total", single(stream.overflows)
