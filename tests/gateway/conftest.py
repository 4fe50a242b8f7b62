"""What holds for every test of the gateway."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from leasehold.checks import connection, work
from leasehold.gateway import cluster
from leasehold.gateway.access import audit_log
from leasehold.gateway.nouns import events, findings, probes
from leasehold.gateway.routing import coalescer
from leasehold.gateway.serving import serve
from tests.gateway.fakes.running import RunningGateway, running_service
from tests.support.waiting import PATIENCE


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway answers 503 rather than keep somebody waiting; on a machine that tests keep busy it waits as long as they do.

    A test of what it gives up sets its own time.
    """
    for module, name in (
        (audit_log, "CLOSE_SECONDS"),
        (cluster, "SECONDS"),
        (work, "PATIENCE_SECONDS"),
        (coalescer, "PATIENCE_SECONDS"),
        (connection, "PING_SECONDS"),
        (events, "BEGIN_SECONDS"),
        (events, "WRITE_SECONDS"),
        (findings, "PATIENCE_SECONDS"),
        (probes, "CHECK_SECONDS"),
        (serve, "DATABASE_SECONDS"),
    ):
        monkeypatch.setattr(module, name, PATIENCE)


@pytest.fixture
def gateway(database_url: str) -> Generator[RunningGateway]:
    """One with a database behind it, as most tests want it."""
    with running_service(database_url) as gateway:
        yield gateway
