"""Spans and metrics, with the real SDK, a real database and a real worker."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from leasehold import App, Client, Job, NewJob, open_client
from leasehold.database import Database
from leasehold.jobs.endings import Discard, Reschedule
from leasehold.otel import instrument, instrument_client
from tests.support.flavours import in_flavour
from tests.support.waiting import PATIENCE, until
from tests.support.working import a_scheduler, working


class Traced:
    """An instrumented app, and what it exported."""

    def __init__(self, **options: Any) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self._metrics = InMemoryMetricReader()
        self.app = App()
        meters = MeterProvider([self._metrics])
        instrument(self.app, tracer_provider=self.provider, meter_provider=meters, **options)

    def spans(self, kind: SpanKind) -> list[ReadableSpan]:
        return [span for span in self._exporter.get_finished_spans() if span.kind is kind]

    def one(self, kind: SpanKind) -> ReadableSpan:
        [span] = self.spans(kind)
        return span

    def points(self, name: str) -> list[Any]:
        data: Any = self._metrics.get_metrics_data()
        metrics = [
            metric for resource in data.resource_metrics for scope in resource.scope_metrics for metric in scope.metrics
        ]
        return [point for metric in metrics if metric.name == name for point in metric.data.data_points]


def identity(span: ReadableSpan) -> tuple[int, int]:
    context = span.get_span_context()
    assert context is not None
    return context.trace_id, context.span_id


async def test_an_attempt_belongs_to_the_trace_of_whoever_enqueued_it(database_url: str) -> None:
    traced = Traced()
    own = traced.provider.get_tracer("shop")

    @traced.app.kind()
    async def work(n: int) -> int:
        with own.start_as_current_span("inside"):
            return n

    async with working(database_url, traced.app) as running:
        client = Client(running.database, app=traced.app)
        with own.start_as_current_span("request") as request:
            job_id = await client.enqueue(work.new(n=1), queue="mail", key="shop 7")
        await running.finished(job_id)
        await until(lambda: bool(traced.spans(SpanKind.CONSUMER)))
    sent, processed = traced.one(SpanKind.PRODUCER), traced.one(SpanKind.CONSUMER)
    inside = next(span for span in traced.spans(SpanKind.INTERNAL) if span.name == "inside")
    assert (sent.name, processed.name) == ("enqueue work", "process work")
    assert sent.parent is not None
    assert sent.parent.span_id == request.get_span_context().span_id
    assert processed.parent is not None
    assert (processed.parent.trace_id, processed.parent.span_id) == identity(sent)
    assert inside.parent is not None
    assert inside.parent.span_id == identity(processed)[1]
    assert sent.attributes == {
        "messaging.system": "leasehold",
        "messaging.operation.name": "enqueue",
        "messaging.operation.type": "send",
        "messaging.destination.name": "mail",
        "messaging.message.id": str(job_id),
        "leasehold.job.kind": "work",
        "leasehold.job.is_new": True,
    }
    assert processed.attributes == {
        "messaging.system": "leasehold",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": "mail",
        "messaging.message.id": str(job_id),
        "leasehold.job.kind": "work",
        "leasehold.job.attempt": 1,
        "leasehold.job.max_attempts": 20,
        "leasehold.job.key": "shop 7",
        "leasehold.worker.id": "w1",
    }
    assert processed.status.status_code is StatusCode.UNSET


async def test_the_trace_reaches_the_row_and_a_traceparent_that_is_given_is_kept(database: Database) -> None:
    traced = Traced()
    client = Client(database)
    instrument_client(client, tracer_provider=traced.provider)
    given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    made = await client.enqueue_many([NewJob(kind="a"), NewJob(kind="b", traceparent=given)])
    rows = await database.fetch("select traceparent from leasehold.jobs order by id")
    sent = traced.one(SpanKind.PRODUCER)
    assert rows[0]["traceparent"].startswith("00-{:032x}-{:016x}-".format(*identity(sent)))
    assert rows[1]["traceparent"] == given
    assert (sent.name, len(made)) == ("enqueue", 2)
    assert sent.attributes is not None
    assert sent.attributes["messaging.batch.message_count"] == 2


async def test_attempts_may_begin_traces_of_their_own_that_link_to_their_producer(database_url: str) -> None:
    traced = Traced(attempts="link")

    @traced.app.kind()
    async def work() -> None: ...

    async with working(database_url, traced.app) as running:
        client = Client(running.database, app=traced.app)
        await running.finished(await client.enqueue(work.new()))
        await running.run("work")
        await until(lambda: len(traced.spans(SpanKind.CONSUMER)) == 2)
    sent = traced.one(SpanKind.PRODUCER)
    linked, alone = traced.spans(SpanKind.CONSUMER)
    assert (linked.parent, alone.parent, list(alone.links)) == (None, None, [])
    [link] = linked.links
    assert (link.context.trace_id, link.context.span_id) == identity(sent)
    assert identity(linked)[0] != identity(sent)[0]


@pytest.mark.parametrize("runs", ["trio", "asyncio", "thread"])
async def test_jobs_that_a_handler_enqueues_or_continues_with_go_on_in_its_trace(database_url: str, runs: Any) -> None:
    traced = Traced()
    tracer = traced.provider.get_tracer("shop")
    inside: list[int] = []

    async def in_coroutine() -> None:
        with tracer.start_as_current_span("inside") as span:
            inside.append(span.get_span_context().span_id)
        async with open_client(database_url, app=traced.app) as client:
            await client.enqueue(second.new())

    def in_thread() -> None:
        in_flavour("asyncio", in_coroutine)

    @traced.app.kind()
    async def second() -> None: ...

    traced.app.kind("first", runs=runs)(in_thread if runs == "thread" else in_coroutine)
    async with working(database_url, traced.app) as running:
        await running.run("first")
        await until(lambda: len(traced.spans(SpanKind.CONSUMER)) == 2)
    sent = traced.one(SpanKind.PRODUCER)
    spans = {span.name: span for span in traced.spans(SpanKind.CONSUMER)}
    first, then = spans["process first"], spans["process second"]
    assert sent.parent is not None
    assert sent.parent.span_id == identity(first)[1]
    assert then.parent is not None
    assert then.parent.span_id == identity(sent)[1]


@pytest.mark.parametrize("staged", [False, True])
async def test_the_next_job_of_a_chain_and_its_blockers_go_on_in_the_trace_of_the_attempt_that_made_them(
    database_url: str, staged: bool
) -> None:
    traced = Traced()

    @traced.app.kind()
    async def first(job: Job) -> Any:
        if not staged:
            return job.continue_with(second.new(), blockers=[part.new()])
        async with job.complete() as tx:
            tx.continue_with(second.new(), blockers=[part.new()])
        return None

    @traced.app.kind()
    async def part() -> None: ...

    @traced.app.kind()
    async def second() -> None: ...

    async with working(database_url, traced.app) as running:
        await running.client.enqueue("first")
        await until(lambda: len(traced.spans(SpanKind.CONSUMER)) == 3)
    spans = {span.name: span for span in traced.spans(SpanKind.CONSUMER)}
    for name in ("process second", "process part"):
        parent = spans[name].parent
        assert parent is not None
        assert (parent.trace_id, parent.span_id) == identity(spans["process first"])


async def test_without_opentelemetry_at_work_jobs_still_inherit_the_trace_of_the_one_that_makes_them(
    database_url: str,
) -> None:
    given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    app, seen = App(), list[str | None]()

    @app.kind()
    async def first(job: Job) -> Any:
        return job.continue_with(second.new())

    @app.kind()
    async def second(job: Job) -> None:
        seen.append(job.traceparent)

    async with working(database_url, app) as running:
        for traceparent in (given, None):
            await running.client.enqueue_many([NewJob(kind="first", traceparent=traceparent)])
        await until(lambda: len(seen) == 2)
    assert sorted(seen, key=str) == [given, None]


async def test_a_failed_attempt_is_an_error_and_a_later_run_by_wish_is_none(database_url: str) -> None:
    traced = Traced()

    @traced.app.kind()
    async def work(how: str) -> None:
        raise Discard("no money") if how == "fail" else Reschedule(60.0)

    async with working(database_url, traced.app, slots=1) as running:
        await running.run("work", {"how": "fail"})
        await running.in_state(await running.client.enqueue("work", {"how": "later"}), "scheduled")
        await until(lambda: len(traced.spans(SpanKind.CONSUMER)) == 2)
    failed, later = traced.spans(SpanKind.CONSUMER)
    assert failed.status.status_code is StatusCode.ERROR
    assert failed.status.description == "Discard: no money"
    assert failed.attributes is not None
    assert failed.attributes["error.type"] == "Discard"
    assert [event.name for event in failed.events] == ["exception"]
    assert later.status.status_code is StatusCode.UNSET
    assert later.attributes is not None
    assert later.attributes["leasehold.outcome"] == "rescheduled"


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


async def test_an_exception_that_cannot_be_printed_and_a_timeout_end_their_spans_as_well(database_url: str) -> None:
    traced = Traced()

    @traced.app.kind()
    async def work(how: str) -> None:
        import trio

        if how == "raise":
            raise Unprintable
        await trio.sleep_forever()

    async with working(database_url, traced.app, slots=1) as running:
        assert (await running.run("work", {"how": "raise"}, max_attempts=1)).error["type"] == "Unprintable"
        assert (await running.run("work", {"how": "sleep"}, max_attempts=1, timeout=0.05)).error["type"] == "TimedOut"
        await until(lambda: len(traced.spans(SpanKind.CONSUMER)) == 2)
    errors = [(span.attributes or {})["error.type"] for span in traced.spans(SpanKind.CONSUMER)]
    assert errors == ["Unprintable", "Cancelled"]


async def test_metrics_count_jobs_by_what_became_of_them(database_url: str) -> None:
    traced = Traced()

    @traced.app.kind()
    async def work(how: str) -> None:
        if how == "fail":
            raise Discard("no")
        if how == "later":
            raise Reschedule(0.01)

    async with working(database_url, traced.app, beside=[a_scheduler]) as running:
        client = Client(running.database, app=traced.app)
        for how in ("done", "done", "fail"):
            await running.finished(await client.enqueue(work.new(how=how), queue="mail"))
        # An attempt is counted a moment after its end has been written.
        await until(lambda: sum(point.value for point in traced.points("leasehold.job.attempts")) == 3)
    ended = {point.attributes["leasehold.outcome"]: point for point in traced.points("leasehold.job.attempts")}
    assert {outcome: point.value for outcome, point in ended.items()} == {"completed": 2, "failed": 1}
    assert ended["failed"].attributes["error.type"] == "Discard"
    [sent] = traced.points("messaging.client.sent.messages")
    [consumed] = traced.points("messaging.client.consumed.messages")
    assert (sent.value, consumed.value) == (3, 3)
    assert consumed.attributes == {
        "messaging.system": "leasehold",
        "messaging.destination.name": "mail",
        "leasehold.job.kind": "work",
    }
    [waited] = traced.points("leasehold.job.wait.duration")
    assert waited.count == 3
    assert sum(point.count for point in traced.points("messaging.process.duration")) == 3


def test_without_being_asked_for_opentelemetry_is_not_imported() -> None:
    program = (
        "import sys, leasehold, leasehold.actors.run, leasehold.cli;"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.strip() == "[]"
