"""`/api/doctor` with a real database behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Sequence

import pytest

from leasehold.checks.verdicts import Check, ok
from leasehold.gateway.metrics import FRESH_SECONDS, Checkup
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


def test_those_who_ask_at_once_share_an_examination_which_stays_fresh_for_a_while() -> None:
    asyncio.run(ask_often())


async def ask_often() -> None:
    now, asked = 0.0, 0

    async def examine() -> Sequence[Check]:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        return [ok("database", f"look {asked}")]

    checkup = Checkup(examine, lambda: now)
    answers = await asyncio.gather(*(checkup.checks() for _ in range(20)))
    assert {each[0].detail for each in answers} == {"look 1"}
    now = FRESH_SECONDS
    assert (await checkup.checks(within=300))[0].detail == "look 1"
    assert (await checkup.checks())[0].detail == "look 2"
