"""Faults of the kind that an audit finds."""

from __future__ import annotations

from collections.abc import Callable

from tests.gateway.fakes.running import RunningGateway

OVERDUE = "update leasehold.jobs set run_at = now() - interval '2 hours' where id = {id}"
UNSERVED = "update leasehold.jobs set run_at = now() - interval '2 hours', created_at = now() - interval '2 hours' where id = {id}"


def make_faults(
    run: Callable[[str, str], object], database_url: str, gateway: RunningGateway, headers: dict[str, str] | None = None
) -> tuple[int, int]:
    """A job that is overdue, which a repair mends, and one that nobody serves, which people must; their ids."""

    def enqueue(**fields: object) -> int:
        return gateway.call("POST", "/api/jobs", fields, headers).body["id"]

    overdue = enqueue(kind="mail", delay=7200)
    unserved = enqueue(kind="charge")
    run(database_url, OVERDUE.format(id=overdue))
    run(database_url, UNSERVED.format(id=unserved))
    return overdue, unserved
