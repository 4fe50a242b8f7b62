"""What a gateway that runs does once its last token is revoked."""

from __future__ import annotations

import pytest

from leasehold.access.tokens import NewToken
from leasehold.client import Client
from leasehold.database import Database
from tests.gateway.access.test_sessions import cookie_of, sign_in
from tests.gateway.fakes.running import RunningGateway, running_service
from tests.gateway.fakes.streaming import streaming
from tests.support.waiting import until


def status(gateway: RunningGateway, **headers: str) -> int:
    return gateway.call("GET", "/api/jobs/counts", headers=headers).status


async def make(database: Database) -> NewToken:
    return await Client(database).tokens.create("ops", ["admin"])


async def revoke(database: Database, token: NewToken, gateway: RunningGateway) -> None:
    """Returns when the gateway has heard of it."""
    await Client(database).tokens.revoke(token.token_id)
    await until(lambda: status(gateway, Authorization=f"Bearer {token.secret}") == 401)


async def test_it_serves_everybody_again_once_those_that_have_expired_are_revoked_too(
    database: Database, database_url: str
) -> None:
    expired, active = await make(database), await make(database)
    await database.fetch(
        "update leasehold.api_tokens set created_at = now() - interval '2 s', expires_at = now() - interval '1 s' where id = $1",
        expired.token_id,
    )
    with running_service(database_url) as gateway:
        await revoke(database, active, gateway)
        assert status(gateway) == 401
        await Client(database).tokens.revoke(expired.token_id)
        await until(lambda: status(gateway) == 200)


@pytest.mark.parametrize("header", [{"X-Forwarded-For": "203.0.113.7"}, {"Via": "1.1 shop"}])
async def test_who_comes_through_a_proxy_stays_outside(
    database: Database, database_url: str, header: dict[str, str]
) -> None:
    token = await make(database)
    with running_service(database_url) as gateway:
        await revoke(database, token, gateway)
        await until(lambda: status(gateway) == 200)
        assert status(gateway, **header) == 401


async def test_where_other_machines_reach_it_it_serves_nobody(database: Database, database_url: str) -> None:
    token = await make(database)
    with running_service(database_url, gateway_host="0.0.0.0") as gateway:
        await revoke(database, token, gateway)
        assert status(gateway) == 401


async def test_a_stream_of_a_session_goes_on_as_one_without_a_token(database: Database, database_url: str) -> None:
    token = await make(database)
    with running_service(database_url) as gateway:
        cookie = cookie_of(sign_in(gateway, token.secret))
        with streaming(gateway, headers=cookie) as events:
            events.until("ready")
            await Client(database).tokens.revoke(token.token_id)
            await until(lambda: status(gateway) == 200)
            gateway.done("POST", "/api/jobs", {"kind": "a"})
            assert events.changes("job_created", 1)
