"""The stream of events with a real database behind it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from leasehold.gateway.nouns import events as events_noun
from leasehold.gateway.stream import hub
from tests.conftest import Psql
from tests.gateway.fakes.running import RunningGateway, running_service
from tests.gateway.fakes.streaming import streaming

SECRET = "a-token-of-the-settings"
WORKER = "00000000-0000-0000-0000-000000000001"
RUN_ALL = f"""
do $$
declare v_ids bigint[]; v_attempts integer[];
begin
    select array_agg(job_id), array_agg(attempt) into v_ids, v_attempts
      from leasehold.claim_jobs('{WORKER}', 'pod-1', batch => 1000);
    perform leasehold.complete_jobs('{WORKER}', v_ids, v_attempts, array_fill(null::jsonb, array[cardinality(v_ids)]),
                                    array_fill(0.1::float8, array[cardinality(v_ids)]));
end
$$;
"""
ENQUEUE_MANY = """
select count(*) from leasehold.enqueue_jobs((select jsonb_agg(jsonb_build_object('kind', 'a')) from generate_series(1, 100)))
"""
READERS = (
    "select count(*) from pg_stat_activity"
    " where application_name = 'leasehold gateway stream' and datname = current_database()"
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the pauses that spare the database."""
    monkeypatch.setattr(hub, "SHORTEST_PAUSE", 0.01)
    monkeypatch.setattr(hub, "LONGEST_PAUSE", 0.02)
    monkeypatch.setattr(events_noun, "LOOK_SECONDS", 0.02)


def enqueue(gateway: RunningGateway, kind: str = "a", queue: str = "q") -> int:
    return gateway.call("POST", "/api/jobs", {"kind": kind, "queue": queue}).body["id"]


def test_what_happens_is_told_with_the_queues_that_changed(database_url: str, psql: Psql) -> None:
    with running_service(database_url) as gateway, streaming(gateway) as events:
        assert events.headers["Content-Type"] == "text/event-stream"
        assert events.headers["Cache-Control"] == "no-store"
        assert events.until("ready").data == {"resumed": False}
        job_id = enqueue(gateway)
        (created,) = events.changes("job_created", 1)
        assert (created["job_id"], created["kind"], created["queue"]) == (job_id, "a", "q")
        queues = events.until("queues")
        assert queues.data == ["q"]
        assert queues.id is not None
        psql(database_url, RUN_ALL)
        (completed,) = events.changes("job_completed", 1)
        assert (completed["job_id"], completed["worker_id"]) == (job_id, "pod-1")


def test_nothing_is_read_when_nobody_listens(database_url: str, psql: Psql) -> None:
    with running_service(database_url) as gateway:
        assert psql(database_url, READERS) == "0"
        for _ in range(2):
            with streaming(gateway) as events:
                events.until("ready")
                assert psql(database_url, READERS) == "1"
            while psql(database_url, READERS) != "0":
                pass


def test_only_what_was_asked_for_is_told(database_url: str, psql: Psql) -> None:
    with (
        running_service(database_url) as gateway,
        streaming(gateway, "?queue=wanted,other&event=job_completed") as some,
        streaming(gateway, "?job_id=2") as one,
    ):
        some.until("ready")
        one.until("ready")
        for queue in ("unwanted", "wanted", "unwanted"):
            enqueue(gateway, queue=queue)
        psql(database_url, RUN_ALL)
        assert [each["job_id"] for each in some.changes("job_completed", 1)] == [2]
        assert {each["job_id"] for each in one.changes("job_completed", 1)} == {2}


def test_a_client_that_comes_again_is_told_what_it_missed(database_url: str, psql: Psql) -> None:
    with running_service(database_url) as gateway:
        with streaming(gateway) as events:
            last_id = events.until("ready").id
        assert last_id is not None
        ids = [enqueue(gateway) for _ in range(3)]
        psql(database_url, RUN_ALL)
        with streaming(gateway, headers={"Last-Event-ID": last_id}) as events:
            assert [each["job_id"] for each in events.changes("job_completed", 3)] == ids
            assert events.until("ready").data == {"resumed": True}
        with streaming(gateway, f"?after={last_id}&job_id={ids[1]}") as events:
            assert [each["job_id"] for each in events.changes("job_completed", 1)] == [ids[1]]


def test_another_gateway_goes_on_where_the_first_was(database_url: str, psql: Psql) -> None:
    with running_service(database_url) as first, streaming(first) as events:
        last_id = events.until("ready").id
    assert last_id is not None
    with running_service(database_url) as second:
        job_id = enqueue(second)
        psql(database_url, RUN_ALL)
        with streaming(second, headers={"Last-Event-ID": last_id}) as events:
            assert [each["job_id"] for each in events.changes("job_completed", 1)] == [job_id]


def test_an_id_that_cannot_be_gone_on_from_is_answered_with_a_reset(database_url: str) -> None:
    cases: list[tuple[str, str]] = [
        ("x", "unknown_id"),
        ("-1", "unknown_id"),
        ("9" * 18, "unknown_id"),
        ("9" * 16, "unknown_id"),
        ("1", "too_old"),
    ]
    with running_service(database_url) as gateway:
        for last_id, reason in cases:
            with streaming(gateway, headers={"Last-Event-ID": last_id}) as events:
                assert events.until("reset").data == {"reason": reason}
                assert events.until("ready").data == {"resumed": False}


def test_too_much_to_catch_up_with_is_answered_with_a_reset(
    database_url: str, psql: Psql, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_noun, "MOST_REPLAYED", 2)
    with running_service(database_url) as gateway:
        with streaming(gateway) as events:
            last_id = events.until("ready").id
        assert last_id is not None
        for _ in range(3):
            enqueue(gateway)
        psql(database_url, RUN_ALL)
        with streaming(gateway, headers={"Last-Event-ID": last_id}) as events:
            assert events.until("reset").data == {"reason": "too_much"}


def test_a_stopping_gateway_says_so_and_ends_its_streams(database_url: str) -> None:
    with running_service(database_url) as gateway, streaming(gateway) as events:
        events.until("ready")
        gateway.stop()  # waits for far less than drain_seconds
        assert events.until("closing").data == {"reason": "stopping"}
        assert events.next() is None


def test_a_stream_ends_when_its_token_is_revoked(database_url: str) -> None:
    admin = {"Authorization": "Bearer an-admin-token-of-decent-length"}
    with running_service(database_url, gateway_token="an-admin-token-of-decent-length") as gateway:
        made = gateway.call("POST", "/api/tokens", {"name": "page", "scopes": ["read"]}, admin).body
        with streaming(gateway, headers={"Authorization": f"Bearer {made['secret']}"}) as events:
            events.until("ready")
            gateway.call("DELETE", f"/api/tokens/{made['token_id']}", headers=admin)
            assert events.until("closing").data == {"reason": "revoked"}
            assert events.next() is None


def test_a_quiet_stream_has_heartbeats_that_carry_the_id(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_noun, "HEARTBEAT_SECONDS", 0.01)
    with running_service(database_url) as gateway, streaming(gateway) as events:
        events.until("ready")
        beat = events.until("comment")
    assert beat.id is not None
    assert beat.id.isdecimal()


def test_a_slow_client_is_told_that_it_is_and_hung_up_on(
    database_url: str, psql: Psql, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "MOST_BYTES", 2_000)
    with running_service(database_url) as gateway, streaming(gateway) as events:
        events.until("ready")
        psql(database_url, ENQUEUE_MANY)
        assert events.until("overflow").data == {"reason": "too_slow"}
        assert events.next() is None


def test_without_notifications_it_polls(database_url: str, psql: Psql) -> None:
    with running_service(database_url, notify=False) as gateway, streaming(gateway) as events:
        events.until("ready")
        enqueue(gateway)
        assert len(events.changes("job_created", 1)) == 1
        listening = "select count(*) from pg_stat_activity where query ilike 'listen%' and datname = current_database()"
        assert psql(database_url, listening) == "0"


def test_many_streams_share_one_reader(database_url: str, psql: Psql) -> None:
    def first_change(_: int) -> int:
        with streaming(gateway) as events:
            events.until("ready")
            ready.append(None)
            return events.changes("job_completed", 1)[0]["job_id"]

    ready: list[None] = []
    with running_service(database_url) as gateway, ThreadPoolExecutor(10) as pool:
        waiting = [pool.submit(first_change, number) for number in range(10)]
        while len(ready) < 10:
            gateway.call("GET", "/livez")
        assert psql(database_url, READERS) == "1"
        job_id = enqueue(gateway)
        psql(database_url, RUN_ALL)
        assert {each.result() for each in waiting} == {job_id}


def test_without_a_database_there_is_no_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_noun, "BEGIN_SECONDS", 0.05)
    with running_service("postgresql://user:secret@127.0.0.1:1/nowhere") as gateway:
        answer = gateway.call("GET", "/api/events")
    assert (answer.status, answer.body["code"]) == (503, "database_unavailable")


def test_there_are_only_so_many_streams(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_noun, "MOST_STREAMS", 1)
    with running_service(database_url) as gateway, streaming(gateway) as events:
        events.until("ready")
        answer = gateway.call("GET", "/api/events")
        assert gateway.call("HEAD", "/livez").status == 200
    assert (answer.status, answer.body["code"]) == (503, "too_many_streams")


def test_a_wrong_filter_is_refused_and_head_tells_the_headers_and_no_stream(database_url: str) -> None:
    with running_service(database_url) as gateway:
        for query in ["?job_id=x", "?unknown=1", "?queue=", "?job_id=0", "?event=job_compleeted"]:
            answer = gateway.call("GET", f"/api/events{query}")
            assert (answer.status, answer.body["code"]) == (422, "invalid_input")
        answer = gateway.call("HEAD", "/api/events")
    assert (answer.status, answer.headers["Content-Type"], answer.body) == (200, "text/event-stream", None)


def test_the_log_of_a_job_comes_to_those_who_look_at_it(database_url: str, psql: Psql) -> None:
    with running_service(database_url) as gateway:
        job = enqueue(gateway)
        write = f"select leasehold.write_job_logs(array[{job}], array[1], array[clock_timestamp()], array['info'], array['%s'])"
        psql(database_url, write % "before")
        with streaming(gateway, f"?job_id={job}") as one, streaming(gateway, "?job_id=999") as other:
            for events in (one, other):
                events.until("ready")
            psql(database_url, write % "after")
            lines = [*one.until("logs").data]
            while len(lines) < 2:
                lines += one.until("logs").data
            assert [(line["job_id"], line["message"]) for line in lines] == [(job, "before"), (job, "after")]
            logged = gateway.call("GET", f"/api/jobs/{job}/logs").body["items"]
            assert [line["number"] for line in logged] == [line["number"] for line in lines]


def test_changes_of_schedules_come_to_those_who_look_at_everything(database_url: str, psql: Psql) -> None:
    with running_service(database_url) as gateway, streaming(gateway) as events:
        events.until("ready")
        gateway.call("POST", "/api/schedules", {"name": "nightly", "kind": "report", "cron": "0 3 * * *"})
        assert events.until("schedules").data == [{"event": "schedule_created", "schedule": "nightly"}]
        gateway.call("POST", "/api/schedules/nightly/trigger")
        assert events.until("schedules").data == [{"event": "schedule_ticked", "schedule": "nightly"}]
        gateway.call("DELETE", "/api/schedules/nightly")
        assert events.until("schedules").data == [{"event": "schedule_deleted", "schedule": "nightly"}]


def test_the_stream_does_not_tell_readers_what_is_hidden_from_them(database_url: str, psql: Psql) -> None:
    with running_service(database_url, gateway_token=SECRET) as gateway:
        all_of_it = {"Authorization": f"Bearer {SECRET}"}
        reader = gateway.token_with(all_of_it, "read")
        with streaming(gateway, "?job_id=1", all_of_it) as admin, streaming(gateway, "?job_id=1", reader) as ada:
            for events in (admin, ada):
                events.until("ready")
            text = "connected with password=hunter2"
            psql(
                database_url,
                f"select leasehold.write_job_logs(array[1], array[1], array[clock_timestamp()], array['info'], array['{text}'])",
            )
            assert admin.until("logs").data[0]["message"] == text
            assert ada.until("logs").data[0]["message"] == "connected with password=[hidden]"
