"""Calls of the payment provider: from asyncio, and from a thread."""

from __future__ import annotations

import os
import urllib.request

import aiohttp
import msgspec

ADDRESS = "SHOP_PAYMENT_PROVIDER"
PATIENCE_SECONDS = 1.5


class Charge(msgspec.Struct, frozen=True):
    """A request to the provider. It takes the money once for each token, however often it is asked."""

    token: str
    cents: int


class Receipt(msgspec.Struct, frozen=True):
    """The provider's answer; `number` is the same for every call with one token."""

    number: str
    cents: int


async def take_money(charge: Charge) -> Receipt:
    """Ask for the money. Raises aiohttp.ClientError or TimeoutError; then it is unknown whether the money was taken."""
    patience = aiohttp.ClientTimeout(total=PATIENCE_SECONDS)
    async with (
        aiohttp.ClientSession(timeout=patience, raise_for_status=True) as session,
        session.post(os.environ[ADDRESS], data=msgspec.json.encode(charge)) as response,
    ):
        return msgspec.json.decode(await response.read(), type=Receipt)


def take_money_sync(charge: Charge) -> Receipt:
    """The same in a thread. Raises OSError."""
    request = urllib.request.Request(os.environ[ADDRESS], data=msgspec.json.encode(charge))
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as response:
        return msgspec.json.decode(response.read(), type=Receipt)
