from __future__ import annotations

import logging

import pytest

from leasehold.errors import DatabaseUnavailable
from leasehold.gateway.http.problems import DATABASE_UNAVAILABLE, OVERLOADED
from leasehold.gateway.serving import outage
from leasehold.gateway.serving.outage import GatewayOutage
from tests.gateway.fakes.client import FakeClient
from tests.gateway.fakes.running import run, running_gateway

AWAY = DatabaseUnavailable("connection refused")


class Bench:
    """A database that is away, and a clock that a test moves on."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.is_away = True

    async def ask(self) -> None:
        if self.is_away:
            raise AWAY


async def over(outage_: GatewayOutage) -> None:
    """Wait until it has noticed that the database is back."""
    task = outage_._watching  # pyright: ignore[reportPrivateUsage]
    assert task is not None
    await task


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was said of outages."""
    return [record.message for record in caplog.records if record.name == outage.__name__]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Bench:
    monkeypatch.setattr(outage, "PROBE_SECONDS", 0.001)
    caplog.set_level(logging.INFO, logger="leasehold.gateway.serving.outage")
    return Bench()


def test_an_outage_is_one_line_when_it_begins_one_each_minute_and_one_when_it_is_over(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        outage_ = GatewayOutage(bench.ask, lambda: bench.now)
        for seconds in (0.0, 30.0, 61.0, 62.0):
            bench.now = 1000.0 + seconds
            for _ in range(10):
                outage_.refused(DATABASE_UNAVAILABLE, AWAY)
        bench.is_away = False
        await over(outage_)
        await outage_.close()

    run(main())
    began, reminded, ended = told(caplog)
    assert began.startswith("the database is away: connection refused; requests that need it are answered 503")
    assert reminded == "the database has been away for 61 s, 21 requests were answered 503: connection refused"
    assert ended == "the database answers again after 62.0 s, 40 requests were answered 503"


def test_short_outages_beside_each_other_are_told_once_a_minute(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        outage_ = GatewayOutage(bench.ask, lambda: bench.now)
        bench.is_away = False
        for _ in range(12):
            outage_.refused(DATABASE_UNAVAILABLE, AWAY)
            await over(outage_)
            bench.now += 10

    run(main())
    assert len(told(caplog)) == 4


def test_what_else_cannot_be_served_is_said_once_a_minute(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        outage_ = GatewayOutage(bench.ask, lambda: bench.now)
        for _ in range(3):
            outage_.refused(OVERLOADED, ValueError("9 jobs wait"))
        bench.now += 60
        outage_.refused(OVERLOADED, ValueError("9 jobs wait"))
        await outage_.close()

    run(main())
    assert told(caplog) == [
        "requests are answered 503 overloaded (1 so far): 9 jobs wait",
        "requests are answered 503 overloaded (4 so far): 9 jobs wait",
    ]


def test_no_request_of_an_outage_has_a_line_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    def away(_jobs: object) -> None:
        raise AWAY

    caplog.set_level(logging.INFO, logger="leasehold.gateway")
    client = FakeClient()
    client.before = away
    with running_gateway(client) as gateway:
        for _ in range(3):
            assert gateway.call("POST", "/api/jobs", {"kind": "a"}).status == 503
    lines = [record.message for record in caplog.records if record.levelno >= logging.WARNING]
    assert [line.partition(":")[0] for line in lines] == ["the database is away"]
