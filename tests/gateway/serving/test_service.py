"""The gateway with a real database behind it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import psycopg
import pytest
import trio

from leasehold.app import App
from leasehold.database import Database
from tests.conftest import Psql
from tests.gateway.fakes.running import RunningGateway, running_service
from tests.support.servers import OwnServer
from tests.support.waiting import PATIENCE, eventually

HELD_UP = """
select from pg_stat_activity
 where datname = current_database() and application_name = 'leasehold gateway' and wait_event_type = 'Lock'
"""


def post(gateway: RunningGateway, body: object, **headers: str) -> tuple[int, object]:
    answer = gateway.call("POST", "/api/jobs", body, headers)
    return answer.status, answer.body


def test_an_acknowledged_job_is_in_the_database_and_can_be_read(database_url: str, psql: Psql) -> None:
    body = {"kind": "fetch", "args": {"url": "x", "n": [1, 2.5, None]}, "queue": "q", "key": "k", "metadata": {"m": 1}}
    with running_service(database_url) as gateway:
        answer = gateway.call("POST", "/api/jobs", body)
        assert psql(database_url, "select count(*) from leasehold.jobs") == "1"
        shown = gateway.call("GET", f"/api/jobs/{answer.body['id']}")
        counts = gateway.call("GET", "/api/jobs/counts")
    assert (answer.status, answer.body["is_new"]) == (201, True)
    assert shown.status == 200
    assert {name: shown.body[name] for name in body} == body
    assert shown.body["state"] == "pending"
    assert counts.body == {"items": [{"queue": "q", "state": "pending", "jobs": 1}], "next": None}


def test_a_statement_has_the_seconds_that_a_setting_gives(database_url: str, psql: Psql) -> None:
    with running_service(database_url) as gateway:
        job_id = gateway.call("POST", "/api/jobs", {"kind": "fetch"}).body["id"]
    with running_service(database_url, statement_seconds=1.0) as gateway, psycopg.connect(database_url) as holder:
        holder.execute("lock table leasehold.jobs in access exclusive mode")
        answer = gateway.call("GET", f"/api/jobs/{job_id}")
        assert (answer.status, answer.body["code"]) == (503, "database_unavailable")
        holder.rollback()


def test_a_name_is_only_a_name(database_url: str) -> None:
    for kind in ["it's; drop table jobs; --", "„Kauf“ 買う", '"quoted"', "\\", "x" * 200, "%s $1 {}"]:
        with running_service(database_url) as gateway:
            status, body = post(gateway, {"kind": kind, "queue": kind, "key": kind})
            assert status == 201
            assert isinstance(body, dict)
            shown = gateway.call("GET", f"/api/jobs/{body['id']}").body
        assert (shown["kind"], shown["queue"], shown["key"]) == (kind, kind, kind)


def test_a_name_that_only_postgres_refuses_is_a_problem_too(database_url: str) -> None:
    with running_service(database_url) as gateway:
        for kind in ["a\nb", "é" * 101]:
            answer = gateway.call("POST", "/api/jobs", {"kind": kind})
            assert (answer.status, answer.body["code"]) == (422, "invalid_input")
            assert answer.body["detail"].startswith("kind ")


def test_jobs_that_come_at_once_are_written_together_and_a_bad_one_fails_alone(database_url: str, psql: Psql) -> None:
    bodies = [{"kind": "bad\nkind" if number % 10 == 3 else f"kind{number}"} for number in range(60)]
    with running_service(database_url) as gateway, ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(partial(post, gateway), bodies))
    assert [status for status, _ in answers] == [422 if number % 10 == 3 else 201 for number in range(60)]
    assert psql(database_url, "select count(*), count(distinct id) from leasehold.jobs") == "54|54"


def test_a_batch_is_written_whole_or_not_at_all(database_url: str, psql: Psql) -> None:
    with running_service(database_url) as gateway:
        refused = gateway.call("POST", "/api/jobs/batch", [{"kind": "good"}, {"kind": "bad\nkind"}])
        assert psql(database_url, "select count(*) from leasehold.jobs") == "0"
        written = gateway.call("POST", "/api/jobs/batch", [{"kind": f"kind{number}"} for number in range(1000)])
        last = gateway.call("GET", f"/api/jobs/{written.body['items'][-1]['id']}")
    assert refused.status == 422
    assert written.status == 201
    assert len({each["id"] for each in written.body["items"]}) == 1000
    assert last.body["kind"] == "kind999"


def test_many_calls_with_one_idempotency_key_make_one_job(database_url: str, psql: Psql) -> None:
    headers = {"Idempotency-Key": "only once"}
    with running_service(database_url) as gateway, ThreadPoolExecutor(10) as pool:
        asking = [pool.submit(gateway.call, "POST", "/api/jobs", {"kind": "a"}, headers) for _ in range(10)]
        answers = [each.result() for each in asking]
    assert {answer.status for answer in answers} == {201}
    assert len({answer.body["id"] for answer in answers}) == 1
    assert [answer.body["is_new"] for answer in answers].count(True) == 1
    assert psql(database_url, "select count(*) from leasehold.jobs") == "1"


async def test_a_key_that_somebody_else_is_inserting_holds_up_nobody_but_its_own_job(
    database_url: str, database: Database
) -> None:
    with running_service(database_url) as gateway:
        keyed: list[tuple[int, object]] = []
        async with trio.open_nursery() as nursery, database.transaction() as transaction:
            job_id = await transaction.call_value("enqueue_job", "held", idempotency_key="held")

            async def ask_with_the_key() -> None:
                body = {"kind": "a", "idempotency_key": "held"}
                keyed.append(await trio.to_thread.run_sync(lambda: post(gateway, body)))

            async def is_held_up() -> bool:
                return bool(await database.fetch(HELD_UP))

            nursery.start_soon(ask_with_the_key)
            await eventually(is_held_up)
            for _ in range(5):
                status, _ = await trio.to_thread.run_sync(lambda: post(gateway, {"kind": "free"}))
                assert status == 201
            assert keyed == []
    assert keyed == [(201, {"id": job_id, "is_new": False, "outcome": "existing"})]


def test_with_an_app_args_are_checked_and_other_kinds_refused(database_url: str) -> None:
    app = App()

    @app.kind()
    def greet(name: str) -> None: ...  # pyright: ignore[reportUnusedFunction]

    with running_service(database_url, app=app) as gateway:
        assert post(gateway, {"kind": "greet", "args": {"name": "Ada"}})[0] == 201
        for body, code in [
            ({"kind": "greet", "args": {"name": 3}}, "invalid_args"),
            ({"kind": "greet"}, "invalid_args"),
            ({"kind": "part"}, "unknown_kind"),
        ]:
            answer = gateway.call("POST", "/api/jobs", body)
            assert (answer.status, answer.body["code"]) == (422, code)


def test_with_an_app_args_are_written_as_they_came_too(database_url: str, psql: Psql) -> None:
    with running_service(database_url, app=App()) as gateway:
        body = b'{"kind": "echo", "args": {"price": 0.10000000000000000001}}'
        assert gateway.call("POST", "/api/jobs", body).status == 201
    assert psql(database_url, "select args ->> 'price' from leasehold.jobs") == "0.10000000000000000001"


def test_it_is_ready_when_the_schema_is_the_one_it_knows(fresh_database_url: str, psql: Psql) -> None:
    with running_service(fresh_database_url) as gateway:
        ready = gateway.call("GET", "/readyz?verbose")
        assert (ready.status, ready.body["checks"]) == (200, ["database", "schema"])
        psql(
            fresh_database_url,
            "insert into leasehold.schema_migrations (version, name, checksum, breaking) values (9999, 'x', 'x', true)",
        )
        refused = gateway.call("GET", "/readyz")
        assert (refused.status, [each["path"] for each in refused.body["errors"]]) == (503, ["schema"])


def test_without_a_schema_it_lives_but_is_not_ready_and_says_what_is_wrong(empty_database_url: str) -> None:
    with running_service(empty_database_url) as gateway:
        assert gateway.call("GET", "/livez").status == 200
        assert gateway.call("GET", "/readyz").status == 503
        answer = gateway.call("POST", "/api/jobs", {"kind": "a"})
    assert (answer.status, answer.body["code"]) == (503, "schema_mismatch")


def test_without_a_database_it_lives_but_is_not_ready_and_names_no_address() -> None:
    with running_service("postgresql://user:secret@127.0.0.1:1/nowhere") as gateway:
        assert gateway.call("GET", "/livez").status == 200
        ready = gateway.call("GET", "/readyz")
        answer = gateway.call("POST", "/api/jobs", {"kind": "a"})
    assert ready.status == 503
    assert (answer.status, answer.body["code"]) == (503, "database_unavailable")
    for said in (str(ready), str(answer)):
        assert "secret" not in said
        assert "127.0.0.1:1/" not in said


@pytest.mark.acceptance
def test_no_acknowledged_job_is_lost_when_postgres_crashes_and_the_gateway_comes_back(
    durable_server: OwnServer, durable_database_url: str, psql: Psql
) -> None:
    acknowledged: list[int] = []
    with running_service(durable_database_url) as gateway, ThreadPoolExecutor(8) as pool:

        def enqueue_until_refused(_: int) -> int:
            while True:
                answer = gateway.call("POST", "/api/jobs", {"kind": "a"})
                if answer.status != 201:
                    return answer.status
                acknowledged.append(answer.body["id"])

        producers = [pool.submit(enqueue_until_refused, number) for number in range(8)]
        while len(acknowledged) < 200:
            gateway.call("GET", "/livez")
        durable_server.stop("immediate")
        assert {producer.result(PATIENCE) for producer in producers} == {503}
        durable_server.start()
        assert gateway.call("POST", "/api/jobs", {"kind": "afterwards"}).status == 201
    kept = {int(line) for line in psql(durable_database_url, "select id from leasehold.jobs").split()}
    assert set(acknowledged) <= kept


def test_why_a_job_is_not_running(database_url: str) -> None:
    with running_service(database_url) as gateway:
        job_id = gateway.call("POST", "/api/jobs", {"kind": "fetch"}).body["id"]
        answer = gateway.call("GET", f"/api/jobs/{job_id}/why")
    facts = {"live_workers": 0, "serving_queue": 0, "serving_kind": 0, "draining_workers": 0}
    assert (answer.status, answer.body) == (
        200,
        {
            "items": [{"reason": "unserved", "explanation": "no worker is alive", "until": None, "facts": facts}],
            "next": None,
        },
    )
