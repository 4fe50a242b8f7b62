"""Jobs that fail, without a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.gateway.fakes.running import RunningGateway

Run = Callable[[str, str], object]

FAIL = """
do $$ declare
    v_worker uuid := '11111111-1111-1111-1111-111111111111';
    v_ids    bigint[];
    v_error  jsonb := jsonb_build_object('type', {error}, 'message', {message}, 'place', {place}, 'traceback', 'Traceback: …');
begin
    select array_agg(job_id) into v_ids from leasehold.claim_jobs(v_worker, 'w1', null, array[{kind}], 100);
    perform leasehold.fail_jobs(v_worker, v_ids, array_fill(1, array[cardinality(v_ids)]),
                                array_fill(v_error, array[cardinality(v_ids)]), null,
                                array_fill(true, array[cardinality(v_ids)]));
end $$
"""


def quoted(text: str) -> str:
    """A literal of SQL."""
    doubled = text.replace("'", "''").replace("\\", "\\\\")
    return f"e'{doubled}'"


def fail_jobs(
    run: Run,
    database_url: str,
    gateway: RunningGateway,
    kind: str,
    error: str = "ValueError",
    *,
    message: str = "boom",
    place: str = "shop.py:7 in pay",
    jobs: int = 1,
    headers: Mapping[str, str] | None = None,
) -> list[int]:
    """Enqueue jobs of the kind and fail them for good; returns their ids."""
    ids = [gateway.call("POST", "/api/jobs", {"kind": kind}, headers).body["id"] for _ in range(jobs)]
    words = {"error": error, "message": message, "place": place, "kind": kind}
    run(database_url, FAIL.format(**{name: quoted(word) for name, word in words.items()}))
    return ids
