from __future__ import annotations

import http.client
import json
from contextlib import closing
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest

from leasehold.errors import BadInput, DatabaseUnavailable, QueryRefused, UniqueConflict
from leasehold.gateway.http.reading import RequestLimits
from leasehold.jobs.new_job import Unique
from tests.gateway.fakes.client import FakeClient
from tests.gateway.fakes.running import running_gateway
from tests.support.waiting import PATIENCE

BAD_BODIES: list[Any] = [
    pytest.param(b"", 400, "malformed_json", None, id="nothing"),
    pytest.param(b'{"kind": "echo"', 400, "malformed_json", None, id="cut off"),
    pytest.param(b'{"kind": "echo"} x', 400, "malformed_json", None, id="something behind it"),
    pytest.param(b"\xff\xfe", 400, "malformed_json", None, id="no text"),
    pytest.param(b"[]", 422, "invalid_input", "$", id="a list"),
    pytest.param(b"{}", 422, "invalid_input", "$.kind", id="no kind"),
    pytest.param(b'{"kind": 1}', 422, "invalid_input", "$.kind", id="kind is a number"),
    pytest.param(b'{"kind": ""}', 422, "invalid_input", "$.kind", id="kind is empty"),
    pytest.param(b'{"kind": "e\\u0000"}', 422, "invalid_input", "$.kind", id="NUL in the kind"),
    pytest.param(b'{"kind": "echo", "colour": 1}', 422, "invalid_input", "$.colour", id="unknown field"),
    pytest.param(b'{"kind": "echo", "args": []}', 422, "invalid_input", "$.args", id="args are a list"),
    pytest.param(b'{"kind": "echo", "args": null}', 422, "invalid_input", "$.args", id="args are null"),
    pytest.param(b'{"kind": "echo", "args": "x"}', 422, "invalid_input", "$.args", id="args are text"),
    pytest.param(b'{"kind": "echo", "args": {"a": [1, NaN]}}', 422, "invalid_input", "$.args.a[1]", id="NaN"),
    pytest.param(b'{"kind": "echo", "args": {"a": 1e400}}', 422, "invalid_input", "$.args.a", id="out of range"),
    pytest.param(b'{"kind": "echo", "args": {"a": "\\u0000"}}', 422, "invalid_input", "$.args.a", id="NUL"),
    pytest.param(b'{"kind": "echo", "args": {"a": "\\ud800"}}', 422, "invalid_input", "$.args.a", id="surrogate"),
    pytest.param(b'{"kind": "echo", "args": {"a": "\xff"}}', 422, "invalid_input", "$.args.a", id="no UTF-8"),
    pytest.param(b'{"kind": "echo", "priority": 1e9}', 422, "invalid_input", "$.priority", id="priority has a dot"),
    pytest.param(b'{"kind": "echo", "priority": 2147483648}', 422, "invalid_input", "$.priority", id="too high"),
    pytest.param(b'{"kind": "echo", "run_at": "tomorrow"}', 422, "invalid_input", "$.run_at", id="no time"),
    pytest.param(b'{"kind": "echo", "run_at": "2030-01-01T00:00:00"}', 422, "invalid_input", "$.run_at", id="no zone"),
    pytest.param(b'{"kind": "echo", "delay": -1}', 422, "invalid_input", "$.delay", id="in the past"),
    pytest.param(
        b'{"kind": "echo", "delay": 1, "run_at": "2030-01-01T00:00:00Z"}', 422, "invalid_input", "$.delay", id="both"
    ),
    pytest.param(b'{"kind": "echo", "max_attempts": 0}', 422, "invalid_input", "$.max_attempts", id="no attempts"),
    pytest.param(b'{"kind": "echo", "metadata": 3}', 422, "invalid_input", "$.metadata", id="metadata is a number"),
    pytest.param(b"[" * 100_000 + b"]" * 100_000, 422, "too_deep", None, id="deep list"),
    pytest.param(b'{"kind": "e", "args": ' + b'{"a":' * 100_000, 422, "too_deep", None, id="deep object"),
]


@pytest.fixture(scope="module")
def refusing_gateway():
    client = FakeClient()
    with running_gateway(client) as gateway:
        yield gateway
    assert client.statements == []


@pytest.mark.parametrize(("body", "status", "code", "path"), BAD_BODIES)
def test_a_bad_body_is_refused_with_a_problem_that_names_the_field(
    refusing_gateway: Any, body: bytes, status: int, code: str, path: str | None
) -> None:
    answer = refusing_gateway.call("POST", "/api/jobs", body)
    assert (answer.status, answer.body["code"]) == (status, code)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.body["type"] == f"urn:leasehold:problem:{code}"
    assert answer.body["status"] == status
    assert answer.body["request_id"] == answer.headers["X-Request-Id"]
    assert [offence["path"] for offence in answer.body.get("errors", [])] == ([] if path is None else [path])


def test_in_a_batch_the_path_names_the_job_and_nothing_is_written(refusing_gateway: Any) -> None:
    for body, path in [
        (b'[{"kind": "a"}, {"kind": "b", "args": {"x": NaN}}]', "$[1].args.x"),
        (b'[{"kind": "a"}, {"kind": "b", "args": 3}]', "$[1].args"),
        (b'[{"kind": "a"}, {"kind": "b", "color": 3}]', "$[1].color"),
        (b"[]", "$"),
        (json.dumps([{"kind": "a"}] * 1001).encode(), "$"),
    ]:
        answer = refusing_gateway.call("POST", "/api/jobs/batch", body)
        assert (answer.status, answer.body["code"]) == (422, "invalid_input")
        assert answer.body["errors"][0]["path"] == path


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
        {"Content-Type": "application/json; charset=latin-1"},
        {"Content-Type": 'application/json; charset="utf-16"'},
    ],
)
def test_what_is_not_plain_json_by_its_headers_is_not_read(refusing_gateway: Any, headers: dict[str, str]) -> None:
    answer = refusing_gateway.call("POST", "/api/jobs", b'{"kind": "echo"}', headers)
    assert (answer.status, answer.body["code"]) == (415, "unsupported_media_type")


def test_json_may_say_that_it_is_utf_8(refusing_gateway: Any) -> None:
    for given in ("application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"', "application/json; profile=x"):
        assert refusing_gateway.call("POST", "/api/jobs", b"{", {"Content-Type": given}).status == 400


@pytest.mark.parametrize(
    ("method", "path", "body", "message"),
    [
        ("GET", "/api/jobs?state=done", None, "blocked, cancelled, claimed, completed, failed, pending, running, sch"),
        ("GET", "/api/jobs?fields=id,colour", None, "args, attempt, chain_id,"),
        ("POST", "/api/jobs/bulk/retry", {"state": "done"}, "any, cancelled, failed"),
        ("POST", "/api/jobs", {"kind": "a", "blockers": [1, {"chain": 2, "until": "late"}]}, "completed, ended"),
        ("POST", "/api/jobs", {"kind": "a", "unique": {"states": ["done"]}}, "pending, scheduled, waiting, blocked,"),
        ("POST", "/api/jobs/batch", [{"kind": "a", "unique": {"on_conflict": "boom"}}], "existing, extend, overwrite,"),
        ("POST", "/api/tokens", {"name": "ci", "scopes": ["write"]}, "admin, enqueue, operate, read"),
        ("POST", "/api/workers/w/commands", {"command": "boom"}, "cancel_job, decommission, dump_stacks, pause,"),
        ("POST", "/api/schedules", {"name": "s", "kind": "a", "every": 60, "missed": "no"}, "catch_up, coalesce, skip"),
    ],
)
def test_who_chooses_something_else_is_told_what_there_is(
    refusing_gateway: Any, method: str, path: str, body: object, message: str
) -> None:
    answer = refusing_gateway.call(method, path, body)
    assert (answer.status, answer.body["code"]) == (422, "invalid_input")
    assert message in answer.body["detail"]


def test_a_job_is_written_as_it_was_asked_for() -> None:
    client = FakeClient()
    body = (
        b'{"kind": "fetch; drop table \\"jobs\\" \xe2\x82\xac", "args": {"price": 0.10, "n": 123456789012345678901},'
        b' "queue": "q", "priority": 7, "delay": 2.5, "key": "k", "key_group": "g", "max_attempts": 3, "metadata": {"m": 1},'
        b' "idempotency_key": "i", "timeout": 60, "deadline": "2999-01-01T00:00:00Z", "blockers": [4, 2],'
        b' "unique": {"by": ["kind"], "window": 5, "on_conflict": "reject"}, "traceparent": "00-1-2-01"}'
    )
    with running_gateway(client) as gateway:
        answer = gateway.call("POST", "/api/jobs", body)
    assert (answer.status, answer.body) == (201, {"id": 1, "is_new": True, "outcome": "created"})
    [job] = client.enqueued
    assert job.kind == 'fetch; drop table "jobs" €'
    assert bytes(job.args) == b'{"price": 0.10, "n": 123456789012345678901}'  # pyright: ignore[reportArgumentType]
    assert (job.queue, job.priority, job.delay, job.key, job.key_group) == ("q", 7, 2.5, "k", "g")
    assert (job.max_attempts, job.metadata, job.idempotency_key) == (3, {"m": 1}, "i")
    assert (job.timeout, job.deadline, job.blockers) == (60.0, datetime(2999, 1, 1, tzinfo=UTC), [4, 2])
    assert (job.unique, job.traceparent) == (Unique(by=["kind"], window=5, on_conflict="reject"), "00-1-2-01")


def test_a_unique_job_that_may_not_be_written_twice_is_a_conflict() -> None:
    def refuse(_jobs: object) -> None:
        raise UniqueConflict("job 7 has this unique key already")

    client = FakeClient()
    client.before = refuse
    with running_gateway(client) as gateway:
        answer = gateway.call("POST", "/api/jobs", {"kind": "a", "unique": {"on_conflict": "reject"}})
        neither = gateway.call("POST", "/api/jobs", {"kind": "a", "unique": {"by": ["kind"], "key": "k"}})
    assert (answer.status, answer.body["code"]) == (409, "unique_conflict")
    assert (neither.status, neither.body["code"]) == (422, "invalid_input")


def test_the_idempotency_key_of_a_request_comes_in_a_header_and_goes_with_no_key_of_the_job() -> None:
    client = FakeClient()
    with running_gateway(client) as gateway:
        assert gateway.call("POST", "/api/jobs", {"kind": "a"}, {"Idempotency-Key": "one"}).status == 201
        same = gateway.call("POST", "/api/jobs", {"kind": "a", "idempotency_key": "x"}, {"Idempotency-Key": "x"})
        other = gateway.call("POST", "/api/jobs", {"kind": "a", "idempotency_key": "x"}, {"Idempotency-Key": "y"})
        endless = gateway.call("POST", "/api/jobs", {"kind": "a"}, {"Idempotency-Key": "y" * 501})
    assert (same.status, other.status, endless.status) == (422, 422, 422)
    assert same.body["errors"][0]["path"] == "$.idempotency_key"
    assert [job.idempotency_key for job in client.enqueued] == ["one"]


def test_a_header_that_counts_once_is_refused_twice(refusing_gateway: Any) -> None:
    for name in ("Idempotency-Key", "Authorization"):
        with closing(http.client.HTTPConnection(*refusing_gateway.address, timeout=PATIENCE)) as line:
            line.putrequest("POST", "/api/jobs")
            for header, value in (
                ("Content-Type", "application/json"),
                ("Content-Length", "12"),
                (name, "a"),
                (name, "b"),
            ):
                line.putheader(header, value)
            line.endheaders(b'{"kind":"a"}')
            answer = line.getresponse()
            assert (answer.status, json.loads(answer.read())["code"]) == (400, "malformed_request")


def test_what_is_no_integer_is_no_id(refusing_gateway: Any) -> None:
    for job_id in ("1.0", "1e0", "+1", "1_0", "\uff11"):
        answer = refusing_gateway.call("GET", f"/api/jobs/{quote(job_id)}")
        limit = refusing_gateway.call("GET", f"/api/jobs?limit={quote(job_id)}")
        assert (answer.status, answer.body["code"]) == (404, "unknown_job")
        assert "no job has the id" not in answer.body["detail"]
        assert (limit.status, limit.body["errors"][0]["path"]) == (422, "query.limit")


def test_a_batch_is_one_statement_and_answers_in_order() -> None:
    client = FakeClient()
    with running_gateway(client) as gateway:
        answer = gateway.call("POST", "/api/jobs/batch", [{"kind": f"k{n}"} for n in range(1000)])
    assert answer.status == 201
    assert [each["id"] for each in answer.body["items"]] == list(range(1, 1001))
    assert [len(statement) for statement in client.statements] == [1000]


def test_args_above_their_own_limit_are_refused() -> None:
    limits = RequestLimits(body_bytes=10_000, args_bytes=100, json_depth=100)
    client = FakeClient()
    with running_gateway(client, limits=limits) as gateway:
        answer = gateway.call("POST", "/api/jobs", {"kind": "a", "args": {"text": "x" * 100}})
    assert (answer.status, answer.body["code"]) == (413, "args_too_large")
    assert client.statements == []


SAID: list[tuple[Exception, int, str]] = [
    (BadInput("queue has a control character"), 422, "invalid_input"),
    (QueryRefused("secret: value too long", sqlstate="22001"), 422, "invalid_input"),
    (QueryRefused("secret: syntax error", sqlstate="42601"), 500, "internal"),
    (DatabaseUnavailable("cannot reach postgresql://user:secret@host"), 503, "database_unavailable"),
    (RuntimeError("secret"), 500, "internal"),
]


def test_what_the_database_says_becomes_a_problem_without_its_secrets() -> None:
    def fail(_jobs: object) -> None:
        raise errors[-1]

    errors: list[Exception] = []
    client = FakeClient()
    client.before = fail
    with running_gateway(client) as gateway:
        for error, status, code in SAID:
            errors.append(error)
            answer = gateway.call("POST", "/api/jobs", {"kind": "a"})
            assert (answer.status, answer.body["code"]) == (status, code)
            assert "secret" not in str(answer)
            assert "Traceback" not in str(answer)
            assert ("Retry-After" in answer.headers) == (status == 503)
