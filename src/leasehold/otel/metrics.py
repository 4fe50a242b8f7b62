"""The metrics of OpenTelemetry, fed from events."""

from __future__ import annotations

from collections.abc import Mapping

from opentelemetry.metrics import Meter

from leasehold import events
from leasehold.app import App
from leasehold.otel import names

OUTCOMES: Mapping[type[events.Event], str] = {
    events.JobCompleted: "completed",
    events.JobFailed: "failed",
    events.JobRetried: "retried",
    events.JobRescheduled: "rescheduled",
    events.JobReleased: "released",
}


def count_events(app: App, meter: Meter) -> None:
    """Feed metrics from the events of an app: counters by kind, queue and outcome, durations of runs and waits."""
    sent = meter.create_counter(names.SENT, "{message}", "Jobs enqueued by this process.")
    consumed = meter.create_counter(names.CONSUMED, "{message}", "Attempts begun by this process.")
    ended = meter.create_counter(names.ENDED, "{attempt}", "Attempts ended, by outcome, when it was committed.")
    lost = meter.create_counter(names.LEASES_LOST, "{lease}", "Leases lost, by reason.")
    buckets = names.DURATION_BUCKETS
    ran = meter.create_histogram(
        names.PROCESS_DURATION, names.SECONDS, "How long attempts took.", explicit_bucket_boundaries_advisory=buckets
    )
    waited = meter.create_histogram(
        names.WAIT_DURATION,
        names.SECONDS,
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
            where |= {names.ERROR_TYPE: event.error["type"]}
        ended.add(1, where | {names.OUTCOME: OUTCOMES[type(event)]})
        ran.record(event.ran_for, where)

    def back(event: events.JobRescheduled | events.JobReleased) -> None:
        ended.add(1, _where(event) | {names.OUTCOME: OUTCOMES[type(event)]})

    app.subscribe(events.JobCreated, created)
    app.subscribe(events.JobStarted, started)
    for ending in (events.JobCompleted, events.JobFailed, events.JobRetried):
        app.subscribe(ending, over)
    for return_ in (events.JobRescheduled, events.JobReleased):
        app.subscribe(return_, back)
    app.subscribe(events.JobLeaseLost, lambda event: lost.add(1, _where(event) | {names.ERROR_TYPE: event.reason}))


def _where(event: events.JobCreated | events.AttemptEvent) -> dict[str, str]:
    return {names.SYSTEM: names.SYSTEM_VALUE, names.DESTINATION: event.queue, names.KIND: event.kind}
