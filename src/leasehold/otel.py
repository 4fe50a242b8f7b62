"""OpenTelemetry, for those who install the extra `otel`: spans around enqueueing and attempts, and metrics.

Nothing here is imported unless you do, and without `instrument` nothing is paid for it. The names that leasehold gives to
OpenTelemetry follow the semantic conventions for messaging (still in development there):
https://opentelemetry.io/docs/specs/semconv/messaging/
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

import msgspec
from opentelemetry.context import Context
from opentelemetry.metrics import Meter, MeterProvider, get_meter
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode, TracerProvider, get_current_span, get_tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from leasehold import events
from leasehold.app import App
from leasehold.client import Client
from leasehold.jobs.endings import Reschedule
from leasehold.jobs.middleware import Attempt, CallNext, EnqueueNext
from leasehold.jobs.new_job import NewJob
from leasehold.observability.context import set_traceparent
from leasehold.records.jobs import EnqueuedJob

SCOPE = "leasehold"

SYSTEM = "messaging.system"
SYSTEM_VALUE = "leasehold"
OPERATION_NAME = "messaging.operation.name"
OPERATION_TYPE = "messaging.operation.type"
DESTINATION = "messaging.destination.name"
MESSAGE_ID = "messaging.message.id"
CONVERSATION_ID = "messaging.message.conversation_id"
BATCH_COUNT = "messaging.batch.message_count"
CONSUMER_GROUP = "messaging.consumer.group.name"
ERROR_TYPE = "error.type"

KIND = "leasehold.job.kind"
ATTEMPT = "leasehold.job.attempt"
MAX_ATTEMPTS = "leasehold.job.max_attempts"
KEY = "leasehold.job.key"
WORKER = "leasehold.worker.id"
IS_NEW = "leasehold.job.is_new"
OUTCOME = "leasehold.outcome"

ENQUEUE = "enqueue"
PROCESS = "process"
SEND_TYPE = "send"
PROCESS_TYPE = "process"

SENT = "messaging.client.sent.messages"
CONSUMED = "messaging.client.consumed.messages"
PROCESS_DURATION = "messaging.process.duration"
WAIT_DURATION = "leasehold.job.wait.duration"
ENDED = "leasehold.job.attempts"
LEASES_LOST = "leasehold.leases.lost"

SECONDS = "s"
DURATION_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)

OUTCOMES: Mapping[type[events.Event], str] = {
    events.JobCompleted: "completed",
    events.JobFailed: "failed",
    events.JobRetried: "retried",
    events.JobRescheduled: "rescheduled",
    events.JobReleased: "released",
}

_propagator = TraceContextTextMapPropagator()


def count_events(app: App, meter: Meter) -> None:
    """Feed metrics from the events of an app: counters by kind, queue and outcome, durations of runs and waits."""
    sent = meter.create_counter(SENT, "{message}", "Jobs enqueued by this process.")
    consumed = meter.create_counter(CONSUMED, "{message}", "Attempts begun by this process.")
    ended = meter.create_counter(ENDED, "{attempt}", "Attempts ended, by outcome, when it was committed.")
    lost = meter.create_counter(LEASES_LOST, "{lease}", "Leases lost, by reason.")
    buckets = DURATION_BUCKETS
    ran = meter.create_histogram(
        PROCESS_DURATION, SECONDS, "How long attempts took.", explicit_bucket_boundaries_advisory=buckets
    )
    waited = meter.create_histogram(
        WAIT_DURATION,
        SECONDS,
        "How long jobs that could run waited.",
        explicit_bucket_boundaries_advisory=buckets,
    )

    def created(event: events.JobCreated) -> None:
        sent.add(1, _where(event))

    def started(event: events.JobStarted) -> None:
        consumed.add(1, _where(event))
        waited.record(event.waited, _where(event))

    def over(event: events.JobCompleted | events.JobFailed | events.JobRetried) -> None:
        where = _where(event)
        if not isinstance(event, events.JobCompleted):
            where |= {ERROR_TYPE: event.error["type"]}
        ended.add(1, where | {OUTCOME: OUTCOMES[type(event)]})
        ran.record(event.ran_for, where)

    def back(event: events.JobRescheduled | events.JobReleased) -> None:
        ended.add(1, _where(event) | {OUTCOME: OUTCOMES[type(event)]})

    app.subscribe(events.JobCreated, created)
    app.subscribe(events.JobStarted, started)
    for ending in (events.JobCompleted, events.JobFailed, events.JobRetried):
        app.subscribe(ending, over)
    for return_ in (events.JobRescheduled, events.JobReleased):
        app.subscribe(return_, back)
    app.subscribe(events.JobLeaseLost, lambda event: lost.add(1, _where(event) | {ERROR_TYPE: event.reason}))


def _where(event: events.JobCreated | events.AttemptEvent) -> dict[str, str]:
    return {SYSTEM: SYSTEM_VALUE, DESTINATION: event.queue, KIND: event.kind}


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
        self._tracer = get_tracer(SCOPE, tracer_provider=tracer_provider)
        self._attempts = attempts

    async def enqueue(self, jobs: Sequence[NewJob], call_next: EnqueueNext, /) -> list[EnqueuedJob]:
        """Around `Client.enqueue…`. A job that has a traceparent keeps it."""
        with self._tracer.start_as_current_span(
            _span_name(ENQUEUE, {job.kind for job in jobs}),
            kind=SpanKind.PRODUCER,
            attributes=_producer_attributes(jobs),
            record_exception=False,
        ) as span:
            traceparent = _traceparent_here()
            made = await call_next(
                [job if job.traceparent else msgspec.structs.replace(job, traceparent=traceparent) for job in jobs]
            )
            if len(made) == 1:
                span.set_attribute(MESSAGE_ID, str(made[0].job_id))
                span.set_attribute(IS_NEW, made[0].is_new)
            return made

    async def process(self, attempt: Attempt, call_next: CallNext, /) -> Any:
        """Around an attempt."""
        sender = _context_of(attempt.job.traceparent)
        is_child = self._attempts == "child"
        with self._tracer.start_as_current_span(
            _span_name(PROCESS, {attempt.kind.name}),
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
    count_events(app, get_meter(SCOPE, meter_provider=meter_provider))


def instrument_client(client: Client, *, tracer_provider: TracerProvider | None = None) -> None:
    """Make spans for what a client without an app enqueues; one with an instrumented app makes them already."""
    client.enqueue_middleware(Telemetry(tracer_provider).enqueue)


def _span_name(operation: str, kinds: set[str]) -> str:
    return f"{operation} {min(kinds)}" if len(kinds) == 1 else operation


def _producer_attributes(jobs: Sequence[NewJob]) -> dict[str, str | int]:
    attributes: dict[str, str | int] = {
        SYSTEM: SYSTEM_VALUE,
        OPERATION_NAME: ENQUEUE,
        OPERATION_TYPE: SEND_TYPE,
    }
    if len(jobs) > 1:
        attributes[BATCH_COUNT] = len(jobs)
    for name, values in ((KIND, {job.kind for job in jobs}), (DESTINATION, {job.queue for job in jobs})):
        value = next(iter(values))
        if len(values) == 1 and value is not None:
            attributes[name] = value
    return attributes


def _consumer_attributes(attempt: Attempt) -> dict[str, str | int]:
    job = attempt.job
    attributes: dict[str, str | int] = {
        SYSTEM: SYSTEM_VALUE,
        OPERATION_NAME: PROCESS,
        OPERATION_TYPE: PROCESS_TYPE,
        DESTINATION: job.queue,
        MESSAGE_ID: str(job.id),
        KIND: job.kind,
        ATTEMPT: job.attempt,
        MAX_ATTEMPTS: job.max_attempts,
        WORKER: job.worker_id,
    }
    return attributes if job.key is None else attributes | {KEY: job.key}


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
        span.set_attribute(OUTCOME, "rescheduled")
        return
    span.set_attribute(ERROR_TYPE, type(error).__qualname__)
    span.set_status(Status(StatusCode.ERROR, type(error).__qualname__))
    with suppress(Exception):  # some exceptions cannot be printed
        if isinstance(error, Exception):
            span.record_exception(error)
        span.set_status(Status(StatusCode.ERROR, f"{type(error).__qualname__}: {error}"))
