"""What servers of others answer: what that says about the identity that asked, what robots.txt allows, and how a request ends that
did not go well.

LeaseholdError
└── EgressError
    ├── EgressMissing     httpx is not installed
    ├── AddressInside     the server has an address that is not public, where public ones alone may be asked
    ├── HostUnreachable   the server does not answer
    ├── EgressRefused     the server refused every identity that tried
    └── RobotsForbid      robots.txt of the server forbids it
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import msgspec

from leasehold.errors import LeaseholdError

if TYPE_CHECKING:
    from urllib.robotparser import RobotFileParser

Outcome = Literal["fine", "refused", "busy", "unreachable"]
LONGEST_SECONDS = 86_400.0

FRESH_SECONDS = 86_400.0
MOST_HOSTS = 1000
LONGEST_TEXT = 512 * 1024

Fetch = Callable[[str], Awaitable[tuple[int, str]]]


class EgressError(LeaseholdError):
    """A request to another server did not go well."""


class EgressMissing(EgressError):
    """Egress needs httpx: pip install 'leasehold[egress]'."""


class AddressInside(EgressError):
    """The server has an address that is not public, and public ones alone may be asked."""


class HostUnreachable(EgressError):
    """The server does not answer."""


class EgressRefused(EgressError):
    """The server refused every identity that tried.

    Attributes:
        status: of its last answer; None if there was none.
    """

    def __init__(self, message: str | None = None, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class RobotsForbid(EgressError):
    """robots.txt of the server forbids it."""


class Fared(msgspec.Struct, frozen=True):
    """How an identity fared, and how many seconds the server wants it to stay away (None: it did not say)."""

    outcome: Outcome
    cool_for: float | None = None


def judge(status: int, headers: Mapping[str, str], now: datetime) -> Fared:
    """Judge one answer. 403: refused. 429, and 503 with Retry-After: busy. 407: the proxy refuses us. All others: fine.

    Args:
        status: of the answer. headers: of the answer, found in any case.
        now: for a Retry-After that is a date.
    """
    cool_for = retry_after(headers.get("Retry-After"), now)
    match status:
        case 403:
            return Fared("refused", cool_for)
        case 407:
            return Fared("unreachable")
        case 429:
            return Fared("busy", cool_for)
        case 503 if cool_for is not None:
            return Fared("busy", cool_for)
        case _:
            return Fared("fine")


def retry_after(text: str | None, now: datetime) -> float | None:
    """Seconds from a Retry-After header, a number or a date; None if it is missing or neither. At most a day."""
    if text is None:
        return None
    if text.strip().isascii() and text.strip().isdigit():
        return min(float(text.strip()), LONGEST_SECONDS)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return min(max((moment - now).total_seconds(), 0.0), LONGEST_SECONDS)


class Robots:
    """The rules of the servers that were asked of late.

    Args:
        now: a monotonic clock, in seconds.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._known: dict[str, tuple[float, RobotFileParser]] = {}

    async def check(self, url: str, user_agent: str, fetch: Fetch) -> None:
        """Return if the server allows the page, which is asked for its rules if they are not known.

        Args:
            url: of the page. user_agent: who wants it; rules are for its first word.
            fetch: gets a text by its URL: its status and itself.

        Raises:
            RobotsForbid: it does not; or it could not say, because it failed with a 5xx.
        """
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        known = self._known.get(origin)
        if known is None or known[0] <= self._now():
            status, text = await fetch(f"{origin}/robots.txt")
            if status >= 500:
                raise RobotsForbid(f"{origin}/robots.txt answered {status}, so nothing there may be fetched for now")
            known = self._keep(origin, parse(status, text))
        if not known[1].can_fetch(user_agent, url):
            raise RobotsForbid(
                f"robots.txt of {origin} forbids {parts.path or '/'} to {user_agent.split('/', maxsplit=1)[0]}"
            )

    def _keep(self, origin: str, rules: RobotFileParser) -> tuple[float, RobotFileParser]:
        while len(self._known) >= MOST_HOSTS:
            del self._known[next(iter(self._known))]
        self._known[origin] = known = (self._now() + FRESH_SECONDS, rules)
        return known


def parse(status: int, text: str) -> RobotFileParser:
    """The rules. Without a robots.txt (4xx) everything is allowed."""
    from urllib.robotparser import RobotFileParser  # noqa: PLC0415  it loads http.client and email, and few need it

    rules = RobotFileParser()
    rules.parse(text[:LONGEST_TEXT].splitlines() if status < 400 else [])
    return rules
