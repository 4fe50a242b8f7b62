"""Jobs over HTTP whose args or output lie in the payload store."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from leasehold.gateway.serving import serve
from leasehold.payloads.claim_checks import find_check
from tests.gateway.fakes.running import RunningGateway, running_service

PAGES = {"shop": 7, "pages": ["x" * 100] * 100}


@pytest.fixture
def gateway(database_url: str, tmp_path: Path) -> Generator[RunningGateway]:
    with running_service(database_url, payloads_store=str(tmp_path), payloads_claim_bytes=2_000) as gateway:
        yield gateway


def enqueued(gateway: RunningGateway) -> int:
    return gateway.done("POST", "/api/jobs", {"kind": "crawl", "args": PAGES})["id"]


def shown_args(gateway: RunningGateway, job_id: int) -> Any:
    return gateway.done("GET", f"/api/jobs/{job_id}")["args"]


def test_a_job_is_shown_with_its_large_args_and_a_list_with_their_summary(
    gateway: RunningGateway, tmp_path: Path
) -> None:
    job_id = enqueued(gateway)
    assert len(list(tmp_path.rglob("*.gz"))) == 1
    assert shown_args(gateway, job_id) == PAGES
    [listed] = gateway.call("GET", "/api/jobs").body["items"]
    check = find_check(listed["args"])
    assert check is not None
    assert check.summary == {"shop": 7, "pages": "list of 100"}
    content = gateway.call("GET", f"/api/payloads/{check.id}/data")
    assert content.body == PAGES


def test_a_value_that_is_too_large_for_an_answer_is_named_by_its_check(
    gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch, database_url: str, tmp_path: Path
) -> None:
    job_id = enqueued(gateway)
    monkeypatch.setattr(serve, "MOST_LOADED", 5_000)
    with running_service(database_url, payloads_store=str(tmp_path), payloads_claim_bytes=2_000) as small:
        assert find_check(shown_args(small, job_id)) is not None


def test_a_gateway_that_cannot_read_the_store_shows_the_check(
    gateway: RunningGateway, database_url: str, tmp_path: Path
) -> None:
    job_id = enqueued(gateway)
    with running_service(database_url) as without:
        assert find_check(shown_args(without, job_id)) is not None
    for file in tmp_path.rglob("*.gz"):
        file.unlink()
    assert find_check(shown_args(gateway, job_id)) is not None
