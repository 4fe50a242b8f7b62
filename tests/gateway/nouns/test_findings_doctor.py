"""`/api/doctor` with a real database behind it."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.conftest import Psql
from tests.gateway.fakes.running import RunningGateway, running_service

NAMES = [
    "database", "pooler", "schema", "drift", "partitions", "jobs", "claims", "workers", "kinds", "upkeep", "epochs",
    "notify",
    "clock", "connections", "durability", "autovacuum", "locks", "horizon", "bloat",
]  # fmt: skip


@pytest.fixture
def gateway(fresh_database_url: str) -> Generator[RunningGateway]:
    with running_service(fresh_database_url) as gateway:
        yield gateway


def test_the_server_is_examined_over_http_as_by_the_command(gateway: RunningGateway) -> None:
    body = gateway.call("GET", "/api/doctor").body
    assert [each["name"] for each in body["items"]] == NAMES
    assert {each["name"] for each in body["items"] if each["verdict"] == "skipped"} == set()
    assert body["problems"] == sum(each["verdict"] == "problem" for each in body["items"])
    notify = next(each for each in body["items"] if each["name"] == "notify")
    assert (notify["verdict"], "a notification came" in notify["detail"]) == ("ok", True)


def test_what_is_wrong_comes_with_advice_and_may_be_older_where_somebody_says_so(
    gateway: RunningGateway, fresh_database_url: str, psql: Psql
) -> None:
    psql(fresh_database_url, "drop index leasehold.jobs_deadline")
    checks = {each["name"]: each for each in gateway.call("GET", "/api/doctor?within=300").body["items"]}
    assert checks["drift"]["verdict"] == "problem"
    assert "run `leasehold migrate`" in checks["drift"]["advice"]
    assert gateway.call("GET", "/api/doctor?within=1").status == 422
