from __future__ import annotations

import asyncio

import pytest

from leasehold.errors import DatabaseUnavailable, SchemaMismatch
from leasehold.gateway.nouns import probes
from tests.gateway.fakes.client import FakeClient
from tests.gateway.fakes.running import running_gateway


async def unreachable() -> None:
    raise DatabaseUnavailable("postgresql://user:secret@host")


async def outdated() -> None:
    raise SchemaMismatch


async def well() -> None:
    pass


def test_life_is_shown_even_when_the_database_is_away() -> None:
    with running_gateway(FakeClient(), checks={"database": unreachable}) as gateway:
        answer = gateway.call("GET", "/livez")
    assert (answer.status, answer.body) == (200, {"status": "ok"})


def test_readiness_names_the_checks_that_fail_and_no_address() -> None:
    checks = {"database": unreachable, "schema": outdated, "other": well}
    with running_gateway(FakeClient(), checks=checks) as gateway:
        answer = gateway.call("GET", "/readyz")
    assert (answer.status, answer.body["code"]) == (503, "not_ready")
    assert [offence["path"] for offence in answer.body["errors"]] == ["database", "schema"]
    assert "secret" not in str(answer)
    assert answer.headers["Retry-After"] == "1"


def test_readiness_does_not_wait_until_a_question_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    thawed = asyncio.Event()

    async def frozen() -> None:
        """A question that a frozen server neither answers nor takes back until it goes on."""
        try:
            await thawed.wait()
        finally:
            await thawed.wait()

    monkeypatch.setattr(probes, "CHECK_SECONDS", 0.01)
    with running_gateway(FakeClient(), checks={"database": frozen}) as gateway:
        answer = gateway.call("GET", "/readyz")
        assert answer.body["errors"] == [{"path": "database", "message": "No answer in 0.01 s"}]
        assert probes._left_behind  # pyright: ignore[reportPrivateUsage]
        gateway.loop.call_soon_threadsafe(thawed.set)


def test_readiness_lists_its_checks_when_asked() -> None:
    with running_gateway(FakeClient(), checks={"database": well}) as gateway:
        assert gateway.call("GET", "/readyz").body == {"status": "ok"}
        assert gateway.call("GET", "/readyz?verbose").body == {"status": "ok", "checks": ["database"]}


def test_start_up_is_over_when_every_check_has_passed_once_whatever_comes_later() -> None:
    is_well = [False]

    async def moody() -> None:
        if not is_well[0]:
            raise DatabaseUnavailable("away")

    with running_gateway(FakeClient(), checks={"database": moody}) as gateway:
        assert gateway.call("GET", "/startupz").status == 503
        is_well[0] = True
        assert gateway.call("GET", "/startupz").body == {"status": "ok"}
        is_well[0] = False
        assert gateway.call("GET", "/startupz").status == 200
        assert gateway.call("GET", "/readyz").status == 503
