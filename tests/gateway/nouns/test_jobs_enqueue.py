"""Making jobs over HTTP with a real database behind it: keys, batches, subjects, and waiting for the result."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from leasehold.client import Client
from leasehold.database import open_asyncio_database
from leasehold.gateway.routing.services import preferred_wait
from tests.conftest import Psql
from tests.gateway.fakes.running import RunningGateway, run

WAITERS = "select count(*) from leasehold.chain_waiters"


def test_the_answer_comes_when_the_result_is_there(gateway: RunningGateway, database_url: str, psql: Psql) -> None:
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(gateway.call, "POST", "/api/jobs", {"kind": "pay"}, {"Prefer": "respond-async, wait=60"})
        while psql(database_url, WAITERS) == "0":
            assert not asking.done()
        gateway.call("POST", "/api/chains/1/complete", {"output": {"paid": True}})
        answer = asking.result()
    assert (answer.status, answer.headers["Preference-Applied"]) == (200, "wait=60")
    assert answer.body == {
        "id": 1,
        "is_new": True,
        "outcome": "created",
        "state": "completed",
        "output": {"paid": True},
        "error": None,
    }


def test_a_job_that_failed_meanwhile_says_with_what(gateway: RunningGateway) -> None:
    gateway.call("POST", "/api/jobs", {"kind": "pay", "idempotency_key": "k"})
    gateway.call("POST", "/api/jobs/1/cancel?reason=no%20money")
    answer = gateway.call("POST", "/api/jobs", {"kind": "pay", "idempotency_key": "k"}, {"Prefer": "wait=5"})
    assert (answer.status, answer.body["is_new"], answer.body["state"]) == (200, False, "cancelled")
    assert answer.body["error"]["message"] == "no money"


def test_after_the_time_the_job_is_answered_as_it_stands(gateway: RunningGateway) -> None:
    for prefer in ("wait=0", 'WAIT = "0"'):
        answer = gateway.call("POST", "/api/jobs", {"kind": "pay"}, {"Prefer": prefer})
        assert (answer.status, answer.body["state"]) == (202, "open")
        assert answer.headers["Location"] == f"/api/jobs/{answer.body['id']}"


def test_who_may_only_enqueue_gets_no_output_and_no_keys_of_others(gateway: RunningGateway, database_url: str) -> None:
    async def tokens() -> list[dict[str, str]]:
        async with open_asyncio_database(database_url) as database:
            made = [
                await Client(database).tokens.create("_".join(each), each)
                for each in (["enqueue"], ["enqueue", "read"])
            ]
            return [{"Authorization": f"Bearer {each.secret}"} for each in made]

    pay = {"kind": "pay", "idempotency_key": "k"}
    gateway.call("POST", "/api/jobs", pay)
    gateway.call("POST", "/api/chains/1/complete", {"output": {"iban": "DE02"}})
    enqueuer, reader = run(tokens())
    plain = gateway.call("POST", "/api/jobs", pay, {**enqueuer, "Prefer": "wait=5"})
    assert (plain.status, plain.body) == (201, {"id": 1, "is_new": False, "outcome": "existing"})
    assert "Preference-Applied" not in plain.headers
    told = gateway.call("POST", "/api/jobs", pay, {**reader, "Prefer": "wait=5"})
    assert (told.status, told.body["output"]) == (200, {"iban": "DE02"})
    own = gateway.call("POST", "/api/jobs", {"kind": "pay"}, {**enqueuer, "Prefer": "wait=0"})
    assert (own.status, own.body["state"]) == (202, "open")

    ours = [{"job": {"kind": "refresh"}, "dry_run": True}, {"job": {"kind": "refresh"}}]
    theirs = [{"state_code": "AZ"}]
    for path, bodies in (("/api/jobs/enqueue-state", ours), ("/api/job-queue/enqueue-state", theirs)):
        for body in bodies:
            refused = gateway.call("POST", path, body, enqueuer)
            assert (refused.status, refused.body["code"]) == (403, "insufficient_scope")
            assert 'scope="read"' in refused.headers["WWW-Authenticate"]
            assert gateway.call("POST", path, body, reader).status == 200


def test_what_is_no_wait_is_ignored() -> None:
    cases: list[tuple[str | None, int | None]] = [
        (None, None),
        ("", None),
        ("respond-async", None),
        ("wait", None),
        ("wait=x", None),
        ("wait=-1", None),
        ("await=5", None),
        ("wait=5", 5),
        ("Wait=5; foo=bar", 5),
        ("handling=lenient, wait=7", 7),
        ("wait=5, wait=7", 5),
        ("wait=3600", 60),
        ("wait=1.5", None),
    ]
    for prefer, seconds in cases:
        assert preferred_wait(prefer) == seconds


def test_a_repeated_batch_with_one_key_makes_nothing_more(gateway: RunningGateway) -> None:
    jobs = [{"kind": "a"}, {"kind": "b"}]
    first = gateway.call("POST", "/api/jobs/batch", jobs, {"Idempotency-Key": "only once"}).body["items"]
    again = gateway.call("POST", "/api/jobs/batch", jobs, {"Idempotency-Key": "only once"}).body["items"]
    assert [each["is_new"] for each in first] == [True, True]
    assert [(each["id"], each["is_new"]) for each in again] == [(each["id"], False) for each in first]


PATHS = ("/api/jobs", "/api/jobs/batch", "/api/chains", "/api/tasks", "/api/job-queue/enqueue-batch")


def test_another_body_with_the_same_key_is_refused_and_writes_nothing(
    gateway: RunningGateway, database_url: str, psql: Psql
) -> None:
    for path in PATHS:
        many = path.endswith("batch")
        key = {"Idempotency-Key": path}
        body: Any = {"kind": "a", "args": {"x": 1, "y": 2}}
        others: list[Any] = [{"kind": "b"}, {**body, "queue": "q"}, {"kind": "a", "args": {"x": 1}}]
        first = gateway.call("POST", path, [body, body] if many else body, key)
        before = psql(database_url, "select count(*), max(id) from leasehold.jobs")
        for other in [[body], [body] * 3, [body, others[0]], [others[0], body]] if many else others:
            refused = gateway.call("POST", path, other, key)
            assert (refused.status, refused.body["code"]) == (422, "idempotency_mismatch")
        assert psql(database_url, "select count(*), max(id) from leasehold.jobs") == before
        spaced = b'{ "args": {"y": 2,"x": 1},"kind" : "a" }'
        again = gateway.call("POST", path, b"[" + spaced + b"," + spaced + b"]" if many else spaced, key)
        assert (again.status, first.status) == (201, 201)
        assert str(again.body).replace("existing", "created") == str(first.body).replace("True", "False")


def test_of_two_requests_at_once_with_one_key_and_different_bodies_one_wins(
    gateway: RunningGateway, database_url: str, psql: Psql
) -> None:
    start = Barrier(8)

    def ask(n: int, rnd: int) -> tuple[int, int]:
        start.wait()
        path, body = ("/api/jobs", {"kind": f"k{n}"}) if n % 2 else ("/api/jobs/batch", [{"kind": f"k{n}"}] * 2)
        return gateway.call("POST", path, body, {"Idempotency-Key": f"r{rnd}"}).status, n

    for rnd in range(3):
        with ThreadPoolExecutor(8) as pool:
            answers = sorted(pool.map(ask, range(8), [rnd] * 8))
        assert [status for status, _ in answers] == [201] + [422] * 7
        kinds = psql(database_url, "select distinct kind from leasehold.jobs order by 1").splitlines()
        assert kinds == [f"k{answers[0][1]}"]
        psql(database_url, "delete from leasehold.jobs")


def test_keys_of_requests_meet_neither_those_of_jobs_nor_each_others_parts(gateway: RunningGateway) -> None:
    first = gateway.call("POST", "/api/jobs", {"kind": "a", "idempotency_key": "invoice-42"}).body
    again = gateway.call("POST", "/api/jobs", {"kind": "b", "idempotency_key": "invoice-42"}).body
    # The field names what a job is about, and is compared with nothing.
    assert (first["id"], first["is_new"], again["id"], again["is_new"]) == (1, True, 1, False)
    for path, key in (("jobs", "invoice-42"), ("jobs/batch", "col"), ("jobs", "col/0"), ("jobs/batch", "invoice-42/0")):
        body: Any = {"kind": "b"}
        answer = gateway.call(
            "POST", f"/api/{path}", [body] if path.endswith("batch") else body, {"Idempotency-Key": key}
        )
        assert answer.status == 201
        made = answer.body["items"] if path.endswith("batch") else [answer.body]
        assert [each["is_new"] for each in made] == [True]
    field = gateway.call("POST", "/api/jobs", {"kind": "c", "idempotency_key": "col"})
    assert field.body["is_new"]
    refused = gateway.call("POST", "/api/jobs/batch", [{"kind": "b"}] * 2, {"Idempotency-Key": "col"})
    assert (refused.status, refused.body["code"]) == (422, "idempotency_mismatch")
    assert "'col'" in refused.body["detail"]


def test_a_key_that_postgres_could_not_keep_is_refused(gateway: RunningGateway) -> None:
    for path in ["/api/jobs", "/api/jobs/batch"]:
        for key in ["", "x" * 501, "a\tb", "é"]:
            body: Any = {"kind": "a"}
            answer = gateway.call("POST", path, [body] if path.endswith("batch") else body, {"Idempotency-Key": key})
            assert (answer.status, answer.body["errors"][0]["path"]) == (422, "header.Idempotency-Key")


def test_each_subject_of_a_filter_gets_a_job(gateway: RunningGateway) -> None:
    for key, region in (("a", "AZ"), ("b", "CA"), ("c", "AZ")):
        gateway.call("POST", "/api/jobs", {"kind": "crawl", "key": key, "metadata": {"region": region}})
    body: dict[str, Any] = {"job": {"kind": "refresh"}, "filter": {"kind": "crawl", "metadata": {"region": "AZ"}}}
    would = gateway.call("POST", "/api/jobs/enqueue-state", {**body, "dry_run": True})
    assert [(each["key"], each["job_id"]) for each in would.body["items"]] == [("a", None), ("c", None)]
    first = gateway.call("POST", "/api/jobs/enqueue-state", {**body, "limit": 1})
    assert ([each["key"] for each in first.body["items"]], first.body["next"]) == (["a"], "a")
    rest = gateway.call("POST", "/api/jobs/enqueue-state", {**body, "after_key": "a"})
    [made] = rest.body["items"]
    assert (made["key"], made["is_new"], rest.body["next"]) == ("c", True, None)
    assert gateway.call("GET", f"/api/jobs/{made['job_id']}").body["kind"] == "refresh"


def test_a_job_for_each_subject_that_makes_no_sense_is_refused(gateway: RunningGateway) -> None:
    cases: list[tuple[object, str]] = [
        ({}, "$.job"),
        ({"job": {"kind": "x", "key": "k"}}, "$.job.key"),
        ({"job": {"kind": "x", "idempotency_key": "k"}}, "$.job.idempotency_key"),
        ({"job": {"kind": "x", "args": [1]}}, "$.job.args"),
        ({"job": {"kind": "x"}, "filter": {"state": "done"}}, "$.filter.state"),
        ({"job": {"kind": "x"}, "limit": 0}, "$.limit"),
    ]
    for body, path in cases:
        answer = gateway.call("POST", "/api/jobs/enqueue-state", body)
        assert (answer.status, answer.body["errors"][0]["path"]) == (422, path)
    for address in ("/api/jobs/enqueue-state", "/api/job-queue/enqueue-state"):  # it takes no key, and says why
        answer = gateway.call("POST", address, {"job": {"kind": "refresh"}}, {"Idempotency-Key": "once"})
        assert (answer.status, answer.body["errors"][0]["path"]) == (422, "header.Idempotency-Key")
