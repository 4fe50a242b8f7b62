"""OpenTelemetry, for those who install the extra `otel`: spans around enqueueing and attempts, and metrics.

Nothing here is imported unless you do, and without `instrument` nothing is paid for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal

import msgspec
from opentelemetry.context import Context
from opentelemetry.metrics import MeterProvider, get_meter
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode, TracerProvider, get_current_span, get_tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from leasehold.app import App
from leasehold.client import Client
from leasehold.jobs.endings import Reschedule
from leasehold.jobs.middleware import Attempt, CallNext, EnqueueNext
from leasehold.jobs.new_job import NewJob
from leasehold.observability.context import set_traceparent
from leasehold.otel import names
from leasehold.otel.metrics import count_events
from leasehold.records.jobs import EnqueuedJob

_propagator = TraceContextTextMapPropagator()


class Telemetry:
    """Middlewares that make spans: `enqueue` a PRODUCER span for each call of a client, `process` a CONSUMER span for each
    attempt. The first is stored with the jobs (`traceparent`), so that attempts belong to the trace of their producer, in
    whichever process runs them, however much later.

    Args:
        tracer_provider: the global one where not given.
        attempts: whether an attempt's span is a child of its producer's or begins a trace of its own, with a link to it;
            links suit jobs that run long after, or many times.
    """

    def __init__(
        self, tracer_provider: TracerProvider | None = None, *, attempts: Literal["child", "link"] = "child"
    ) -> None:
        self._tracer = get_tracer(names.SCOPE, tracer_provider=tracer_provider)
        self._attempts = attempts

    async def enqueue(self, jobs: Sequence[NewJob], call_next: EnqueueNext, /) -> list[EnqueuedJob]:
        """Around `Client.enqueue…`. A job that has a traceparent keeps it."""
        with self._tracer.start_as_current_span(
            _span_name(names.ENQUEUE, {job.kind for job in jobs}),
            kind=SpanKind.PRODUCER,
            attributes=_producer_attributes(jobs),
            record_exception=False,
        ) as span:
            traceparent = _traceparent_here()
            made = await call_next(
                [job if job.traceparent else msgspec.structs.replace(job, traceparent=traceparent) for job in jobs]
            )
            if len(made) == 1:
                span.set_attribute(names.MESSAGE_ID, str(made[0].job_id))
                span.set_attribute(names.IS_NEW, made[0].is_new)
            return made

    async def process(self, attempt: Attempt, call_next: CallNext, /) -> Any:
        """Around an attempt."""
        sender = _context_of(attempt.job.traceparent)
        is_child = self._attempts == "child"
        with self._tracer.start_as_current_span(
            _span_name(names.PROCESS, {attempt.kind.name}),
            context=sender if is_child else Context(),
            links=[] if is_child else _links_to(sender),
            kind=SpanKind.CONSUMER,
            attributes=_consumer_attributes(attempt),
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            if traceparent := _traceparent_here():
                set_traceparent(traceparent)
            try:
                return await call_next()
            except BaseException as error:
                _end_badly(span, error)
                raise


def instrument(
    app: App,
    *,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    attempts: Literal["child", "link"] = "child",
) -> None:
    """Make spans for all attempts of an app and for what its clients enqueue, and count what happens to its jobs.

    Call it before adding middlewares of your own that should run inside the spans. Merge apps into the instrumented one.
    """
    telemetry = Telemetry(tracer_provider, attempts=attempts)
    app.middleware(telemetry.process)
    app.enqueue_middleware(telemetry.enqueue)
    count_events(app, get_meter(names.SCOPE, meter_provider=meter_provider))


def instrument_client(client: Client, *, tracer_provider: TracerProvider | None = None) -> None:
    """Make spans for what a client without an app enqueues; one with an instrumented app makes them already."""
    client.enqueue_middleware(Telemetry(tracer_provider).enqueue)


def _span_name(operation: str, kinds: set[str]) -> str:
    return f"{operation} {min(kinds)}" if len(kinds) == 1 else operation


def _producer_attributes(jobs: Sequence[NewJob]) -> dict[str, str | int]:
    attributes: dict[str, str | int] = {
        names.SYSTEM: names.SYSTEM_VALUE,
        names.OPERATION_NAME: names.ENQUEUE,
        names.OPERATION_TYPE: names.SEND_TYPE,
    }
    if len(jobs) > 1:
        attributes[names.BATCH_COUNT] = len(jobs)
    for name, values in ((names.KIND, {job.kind for job in jobs}), (names.DESTINATION, {job.queue for job in jobs})):
        value = next(iter(values))
        if len(values) == 1 and value is not None:
            attributes[name] = value
    return attributes


def _consumer_attributes(attempt: Attempt) -> dict[str, str | int]:
    job = attempt.job
    attributes: dict[str, str | int] = {
        names.SYSTEM: names.SYSTEM_VALUE,
        names.OPERATION_NAME: names.PROCESS,
        names.OPERATION_TYPE: names.PROCESS_TYPE,
        names.DESTINATION: job.queue,
        names.MESSAGE_ID: str(job.id),
        names.KIND: job.kind,
        names.ATTEMPT: job.attempt,
        names.MAX_ATTEMPTS: job.max_attempts,
        names.WORKER: job.worker_id,
    }
    return attributes if job.key is None else attributes | {names.KEY: job.key}


def _context_of(traceparent: str | None) -> Context:
    return Context() if traceparent is None else _propagator.extract({"traceparent": traceparent}, context=Context())


def _links_to(sender: Context) -> list[Link]:
    context = get_current_span(sender).get_span_context()
    return [Link(context)] if context.is_valid else []


def _traceparent_here() -> str | None:
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    return carrier.get("traceparent")


def _end_badly(span: Span, error: BaseException) -> None:
    """What an exception says of its attempt; asking for a later run is no failure."""
    if isinstance(error, Reschedule):
        span.set_attribute(names.OUTCOME, "rescheduled")
        return
    span.set_attribute(names.ERROR_TYPE, type(error).__qualname__)
    span.set_status(Status(StatusCode.ERROR, type(error).__qualname__))
    with suppress(Exception):  # some exceptions cannot be printed
        if isinstance(error, Exception):
            span.record_exception(error)
        span.set_status(Status(StatusCode.ERROR, f"{type(error).__qualname__}: {error}"))
