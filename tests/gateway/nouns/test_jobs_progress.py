"""What handlers say of their jobs, over HTTP."""

from __future__ import annotations

from tests.conftest import Psql
from tests.gateway.fakes.running import running_service

SAY = """
select from leasehold.claim_jobs('00000000-0000-0000-0000-000000000001', 'pod-1', batch => 1);
select from leasehold.report_progress('00000000-0000-0000-0000-000000000001', '{1}', '{1}', '{0.4}', '{parsing}');
select leasehold.write_job_logs('{1,1}', '{1,2}', array['2030-01-02 10:00:00Z', '2030-01-02 10:00:01Z']::timestamptz[],
    '{info,error}', '{begun,broke}');
"""


def test_progress_and_logs_of_a_job(database_url: str, psql: Psql) -> None:
    with running_service(database_url) as gateway:
        gateway.call("POST", "/api/jobs", {"kind": "fetch"})
        nothing = [gateway.call("GET", f"/api/jobs/1/{what}") for what in ("progress", "logs")]
        psql(database_url, SAY)
        progress = gateway.call("GET", "/api/jobs/1/progress")
        logs = gateway.call("GET", "/api/jobs/1/logs")
        second = gateway.call("GET", "/api/jobs/1/logs?attempt=2")
        missing = [gateway.call("GET", f"/api/jobs/2/{what}") for what in ("progress", "logs")]
        wrong = gateway.call("GET", "/api/jobs/1/logs?attempt=x")
    assert [(answer.status, answer.body) for answer in nothing] == [(200, None), (200, {"items": [], "next": None})]
    assert (progress.body["attempt"], progress.body["fraction"], progress.body["message"]) == (1, 0.4, "parsing")
    first = {"at": "2030-01-02T10:00:00Z", "attempt": 1, "level": "info", "message": "begun", "number": 1}
    assert logs.body["items"] == [
        first,
        {"at": "2030-01-02T10:00:01Z", "attempt": 2, "level": "error", "message": "broke", "number": 2},
    ]
    assert second.body["items"] == logs.body["items"][1:]
    assert [(answer.status, answer.body["code"]) for answer in missing] == [(404, "unknown_job")] * 2
    assert wrong.status == 422
