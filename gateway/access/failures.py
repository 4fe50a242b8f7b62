"""How many wrong tokens a caller may send: a bucket for each address. Each gateway process counts for itself."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

Clock = Callable[[], float]

AT_ONCE = 10
PER_SECOND = 10 / 60
MOST_ADDRESSES = 10_000


class Failures:
    """Tokens that the database has refused: ten at once from one address, then ten a minute. Of too many addresses the one
    that was seen longest ago is forgotten."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def wait_for(self, address: str | None) -> float:
        """Seconds until a wrong token from this address is answered 401 again, not 429; 0: now."""
        return max(0.0, (1 - self._left_for(network_of(address))) / PER_SECOND)

    def add(self, address: str | None) -> bool:
        """Count a failure. Returns whether it was the last one allowed for now."""
        key = network_of(address)
        left = self._left_for(key)
        self._left.pop(key, None)
        self._left[key] = left - 1 if left >= 1 else left, self._clock()
        if len(self._left) > MOST_ADDRESSES:
            del self._left[next(iter(self._left))]
        return 1 <= left < 2

    def _left_for(self, key: str) -> float:
        left, at = self._left.get(key, (float(AT_ONCE), 0.0))
        return min(AT_ONCE, left + max(0.0, self._clock() - at) * PER_SECOND)


def network_of(address: str | None) -> str:
    """What counts as one caller: an IPv4 address, or a /64 of IPv6, which one subscriber gets."""
    try:
        parsed = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return address or ""
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)
