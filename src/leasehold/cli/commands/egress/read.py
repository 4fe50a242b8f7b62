"""`leasehold egress list` and `egress test`."""

from __future__ import annotations

from datetime import UTC, datetime
from time import monotonic
from typing import Annotated

from cyclopts import Parameter

from leasehold.cli.commands.egress.view import TestedIdentity, view_identities, view_tested
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.egress import host_of
from leasehold.egress.browser import Browser, ProxyFailed
from leasehold.egress.failures import HostUnreachable
from leasehold.egress.identity import LeasedIdentity
from leasehold.egress.judging import Fared, judge
from leasehold.records.identities import IdentityRecord

TIMEOUT_SECONDS = 20.0
EVERYTHING = Parameter(name="--all", help="Those that are retired, too.", negative=())


@shown_as(view_identities)
async def egress_list(
    *, everything: Annotated[bool, EVERYTHING] = False, context: Annotated[CommandContext, INJECTED]
) -> list[IdentityRecord]:
    """List the egress identities, without the passwords of their proxies.

    Example:
      leasehold egress list --all
    """
    async with context.client() as client:
        return await client.egress.list(everything=everything)


@shown_as(view_tested)
async def egress_test(name: str, url: str, /, *, context: Annotated[CommandContext, INJECTED]) -> TestedIdentity:
    """Send one GET to a URL under an egress identity.

    It is leased meanwhile, and the answer counts as one that a job got: after a 403 it cools.

    Example:
      leasehold egress test berlin-1 https://shop.example/
    """
    host_of(url)
    async with context.client() as client:
        identity = await client.egress.take(name, seconds=3 * TIMEOUT_SECONDS)
        began = monotonic()
        verdict, status, problem = await _ask(identity, url)
        seconds = monotonic() - began
        outcome, cool_for = (None, None) if verdict is None else (verdict.outcome, verdict.cool_for)
        state = await client.egress.give_back(identity, outcome, cool_for)
    return TestedIdentity(name=name, url=url, status=status, seconds=seconds, problem=problem, state=state)


async def _ask(identity: LeasedIdentity, url: str) -> tuple[Fared | None, int | None, str | None]:
    """The verdict on the identity (None: the server is to blame), the status, and what went wrong."""
    browser = Browser(identity, TIMEOUT_SECONDS)
    try:
        response = await browser.send("GET", url)
    except ProxyFailed as error:
        return Fared("unreachable"), None, f"the proxy failed: {error}"
    except HostUnreachable as error:
        return None, None, str(error)
    finally:
        await browser.close()
    return judge(response.status_code, response.headers, datetime.now(UTC)), response.status_code, None
