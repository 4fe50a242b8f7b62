"""How many requests a caller may send: token buckets. Each gateway process counts for itself."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Callable

import msgspec

Clock = Callable[[], float]

FAILURES_AT_ONCE = 10
FAILURES_PER_SECOND = 10 / 60
MOST_BUCKETS = 10_000


class Level(msgspec.Struct, frozen=True):
    """The answer of a bucket: whether a token was taken, how many are left, and seconds until the next one."""

    allowed: bool
    left: int
    next_in: float


class Buckets:
    """Token buckets by key. Full buckets are not kept; if there are too many, the least recently used one is removed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._levels: dict[object, tuple[float, float]] = {}

    def take(self, key: object, rate: float, burst: int) -> Level:
        """Take one token from the bucket of `key`, which gains `rate` a second and holds `burst`. A bucket with less than
        one stays as it is."""
        now = self._clock()
        tokens, at = self._levels.pop(key, (float(burst), now))
        tokens = min(burst, tokens + max(0.0, now - at) * rate)
        allowed = tokens >= 1
        tokens -= 1 if allowed else 0
        self._levels[key] = (tokens, now)
        if len(self._levels) > MOST_BUCKETS:
            del self._levels[next(iter(self._levels))]
        return Level(allowed, int(tokens), 0.0 if tokens >= 1 else (1 - tokens) / rate)

    def has(self, key: object, rate: float, burst: int) -> Level:
        """Whether a token could be taken; takes none."""
        tokens, at = self._levels.get(key, (float(burst), 0.0))
        tokens = min(burst, tokens + max(0.0, self._clock() - at) * rate)
        return Level(tokens >= 1, int(tokens), 0.0 if tokens >= 1 else (1 - tokens) / rate)


class Failures:
    """Tokens that the database has refused: ten at once from one address, then ten a minute."""

    def __init__(self, clock: Clock) -> None:
        self._buckets = Buckets(clock)

    def wait_for(self, address: str | None) -> float:
        """Seconds until a wrong token from this address is answered 401 again, not 429; 0: now."""
        return self._buckets.has(network_of(address), FAILURES_PER_SECOND, FAILURES_AT_ONCE).next_in

    def add(self, address: str | None) -> bool:
        """Count a failure. Returns whether it was the last one allowed for now."""
        level = self._buckets.take(network_of(address), FAILURES_PER_SECOND, FAILURES_AT_ONCE)
        return level.allowed and level.left == 0


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


def rate_headers(rate: float, burst: int, level: Level) -> dict[str, str]:
    """RateLimit and RateLimit-Policy as draft-ietf-httpapi-ratelimit-headers has them; Retry-After if the request was
    refused."""
    window = max(1, round(burst / rate))
    headers = {
        "RateLimit-Policy": f'"token";q={burst};w={window}',
        "RateLimit": f'"token";r={level.left};t={math.ceil(level.next_in)}',
    }
    return headers if level.allowed else {**headers, "Retry-After": retry_after(level.next_in)}


def retry_after(seconds: float) -> str:
    """Whole seconds, at least one."""
    return str(max(1, math.ceil(seconds)))
