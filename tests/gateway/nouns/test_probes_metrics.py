"""`/metrics` of a gateway with a real database behind it."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

import pytest
import trio

from leasehold.client import Client
from leasehold.database import open_asyncio_database
from leasehold.errors import LeaseholdError
from leasehold.gateway.access import token_cache
from leasehold.gateway.nouns import probes as metrics
from leasehold.observability.metrics import MetricsMissing
from tests.conftest import Psql
from tests.gateway.fakes.client import FakeClient
from tests.gateway.fakes.running import RunningGateway, run, running_gateway, running_service
from tests.support.proxy import proxied
from tests.support.waiting import eventually

PROMETHEUS = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1"


def scrape(gateway: RunningGateway, **headers: str) -> dict[str, float]:
    answer = gateway.fetch("/metrics", {"Accept": PROMETHEUS, **headers})
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/plain")
    lines = answer.body.decode().splitlines()
    return {
        name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if not line.startswith("#"))
    }


def test_it_shows_what_the_database_holds_and_what_the_gateway_did(database_url: str, psql: Psql) -> None:
    with running_service(database_url) as gateway:
        for _ in range(3):
            gateway.call("POST", "/api/jobs", {"kind": "a", "queue": "q"})
        gateway.call("GET", "/api/jobs/1")
        gateway.call("GET", "/api/jobs/999")
        gateway.call("GET", "/what/ever")
        gateway.call("GET", "/what/else")
        psql(database_url, "select from leasehold.claim_jobs(gen_random_uuid(), 'w', batch => 1)")
        found = scrape(gateway)
    assert found["leasehold_up"] == 1
    assert found['leasehold_jobs{queue="q",state="pending"}'] == 2
    assert found["leasehold_jobs_held"] == 1
    assert found['leasehold_oldest_ready_job_seconds{queue="q"}'] >= 0
    assert found['leasehold_workers{state="ready"}'] == 0
    assert found['leasehold_http_requests_total{method="POST",route="/api/jobs",status="201"}'] == 3
    assert found['leasehold_http_requests_total{method="GET",route="/api/jobs/{id}",status="200"}'] == 1
    assert found['leasehold_http_requests_total{method="GET",route="/api/jobs/{id}",status="404"}'] == 1
    assert found['leasehold_http_requests_total{method="GET",route="(none)",status="404"}'] == 2
    assert found['leasehold_http_request_seconds_count{route="/api/jobs/{id}"}'] == 2
    assert found["leasehold_http_requests_in_flight"] == 1
    assert found["leasehold_gateway_coalesced_jobs_total"] == 3
    assert found["leasehold_streams"] == 0
    assert sum(name.startswith("leasehold_build_info") for name in found) == 1


def test_a_database_that_is_away_is_told_as_such_and_the_rest_is_there() -> None:
    token = "0123456789abcdef"  # from the settings, so that nobody has to look it up
    with running_service("postgresql://user:secret@127.0.0.1:1/nowhere", gateway_token=token) as gateway:
        found = scrape(gateway, Authorization=f"Bearer {token}")
    assert found["leasehold_up"] == 0
    assert not any(name.startswith("leasehold_jobs") for name in found)
    assert found["leasehold_http_requests_in_flight"] == 1


def test_a_token_that_was_good_sees_that_the_database_has_gone(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "MEASURED_SECONDS", 0.1)
    monkeypatch.setattr(token_cache, "DEAF_SECONDS", 0.1)

    async def make() -> str:
        async with open_asyncio_database(database_url) as database:
            return (await Client(database).tokens.create("prometheus", ["read"])).secret

    bearer = f"Bearer {run(make())}"

    async def main() -> None:
        with ExitStack() as stack:
            async with proxied(database_url) as proxy:
                gateway = await trio.to_thread.run_sync(stack.enter_context, running_service(proxy.dsn))
                found = await trio.to_thread.run_sync(partial(scrape, gateway, Authorization=bearer))
                assert found["leasehold_up"] == 1

            async def is_down() -> bool:
                found = await trio.to_thread.run_sync(partial(scrape, gateway, Authorization=bearer))
                return found["leasehold_up"] == 0

            await eventually(is_down)

    trio.run(main)


def test_without_prometheus_client_it_is_not_there_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_values: object) -> tuple[bytes, str]:
        raise MetricsMissing

    monkeypatch.setattr(metrics, "expose", refuse)
    with running_gateway(FakeClient()) as gateway:
        answer = gateway.call("GET", "/metrics")
    assert (answer.status, answer.body["code"]) == (404, "metrics_missing")
    assert "pip install 'leasehold[metrics]'" in answer.body["detail"]
    assert issubclass(MetricsMissing, LeaseholdError)
