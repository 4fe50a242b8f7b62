"""robots.txt (RFC 9309): what servers allow, read once a day for each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from leasehold.egress.failures import RobotsForbid

if TYPE_CHECKING:
    from urllib.robotparser import RobotFileParser

FRESH_SECONDS = 86_400.0
MOST_HOSTS = 1000
LONGEST_TEXT = 512 * 1024

Fetch = Callable[[str], Awaitable[tuple[int, str]]]


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
