"""Waiting for a result during a request."""

from __future__ import annotations

import asyncio
import re

from leasehold.errors import WaitTimeout
from leasehold.gateway.routing.services import GatewayServices
from leasehold.records.chains import ChainRecord

LONGEST_WAIT = 60
# RFC 7240 §2: preferences are separated by commas, the first of a name counts, what is not understood is ignored.
WAIT = re.compile(r'(?:^|,)\s*wait\s*=\s*"?(?P<seconds>\d{1,9})"?\s*(?=$|[,;])', re.IGNORECASE | re.ASCII)


def preferred_wait(prefer: str | None) -> int | None:
    """How many seconds a Prefer header asks to wait, at most a minute; None if it asks for no wait."""
    found = WAIT.search(prefer) if prefer else None
    return min(int(found["seconds"]), LONGEST_WAIT) if found else None


async def chain_within(services: GatewayServices, chain_id: int, seconds: float) -> ChainRecord:
    """The chain when it has ended, after `seconds`, or when the gateway stops. Raises UnknownJob."""
    waiting = asyncio.ensure_future(services.client.chains.wait(chain_id, timeout=seconds))
    stopping = asyncio.ensure_future(services.stopping.wait())
    try:
        await asyncio.wait({waiting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        return await waiting if waiting.done() else await services.client.chains.get(chain_id)
    except WaitTimeout:
        return await services.client.chains.get(chain_id)
    finally:
        waiting.cancel()
        stopping.cancel()
