"""Whether a connection through a pooler hears what others say.

What it says itself proves nothing: the pooler may just then have lent it the very server connection that listens. So
somebody else says it.
"""

# asyncpg carries no types; what it returns is typed where it leaves this module.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import asyncio
import secrets
from typing import Any

from leasehold.database.calls import Caller
from leasehold.errors import ListenerDeaf

HEARING_SECONDS = 2.0


async def prove_hearing(connection: Any, other: Caller) -> None:
    """Have `other` say something that `connection` listens for. Raises ListenerDeaf when it does not come."""
    channel = f"leasehold_{secrets.token_hex(8)}"
    heard = asyncio.Event()

    def hear(*_notification: object) -> None:
        heard.set()

    await connection.add_listener(channel, hear)
    try:
        await other.fetch("select pg_notify($1, '')", channel)
        await asyncio.wait_for(heard.wait(), HEARING_SECONDS)
    except TimeoutError:
        raise ListenerDeaf from None
    finally:
        await connection.remove_listener(channel, hear)
