"""The web as a job sees it: requests under leased identities that rotate."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sniffio import current_async_library

from leasehold.database.calls import from_row
from leasehold.egress.answers import EgressRefused, Fared, Robots, judge
from leasehold.egress.browser import Browser, ProxyFailed, without_query
from leasehold.egress.identity import LeasedIdentity
from leasehold.errors import BadInput, DatabaseUnavailable, LeaseLost, NoIdentities
from leasehold.jobs.endings import Reschedule
from leasehold.jobs.job import Job

if TYPE_CHECKING:
    from leasehold.egress.browser import Response

LOOK_AGAIN_SECONDS = 1.0
_robots = Robots(monotonic)


class Web:
    """Requests of one attempt, in handlers that run under trio, one at a time. Leave the block before `job.complete()`.

    The identity is leased for as long as the attempt holds its job: nothing renews it, and a worker that dies keeps none.
    After a 403, a 429 or a dead proxy the identity cools, and the request is sent again under another one.

    Example:
        @app.kind(queue="crawl", egress=True)
        async def fetch_page(job: Job, url: str) -> int:
            async with Web(job) as web:
                response = await web.get(url)
            return len(response.content)

    Args:
        job: the running job.
        robots: whether to heed robots.txt.
        rotations: how many further identities a request may use.
        timeout: seconds for each step of a request.

    Raises:
        Reschedule: no identity is free right now; the job runs again when one is, and the attempt does not count.
        NoIdentities: all are retired.
        BadInput: the handler runs under asyncio.
    """

    def __init__(self, job: Job, *, robots: bool = True, rotations: int = 3, timeout: float = 30.0) -> None:
        self._job = job
        self._heeds_robots = robots
        self._rotations = rotations
        self._timeout = timeout
        self._verdict: Fared | None = None
        self._identity: LeasedIdentity | None = None
        self._browser: Browser | None = None

    async def __aenter__(self) -> Web:
        if current_async_library() != "trio":
            raise BadInput("Web is for handlers that run under trio, not for those with runs='asyncio'")
        await self._take([])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # If this is interrupted, the lease ends with that of the job.
        with suppress(LeaseLost, DatabaseUnavailable):
            await self._give_back()

    @property
    def identity(self) -> LeasedIdentity:
        """The identity of the next request. Raises BadInput outside the block."""
        if self._identity is None:
            raise BadInput("Web is used in a block: `async with Web(job) as web:`")
        return self._identity

    async def get(self, url: str, **options: Any) -> Response:
        """`request` with GET."""
        return await self.request("GET", url, **options)

    async def post(self, url: str, **options: Any) -> Response:
        """`request` with POST: `await web.post(url, json={…})`."""
        return await self.request("POST", url, **options)

    async def request(self, method: str, url: str, **options: Any) -> Response:
        """Send a request and return its answer, whatever its status; but 403 and 429 rotate.

        Args:
            method, url: of the request.
            options: as in httpx: `json`, `params`, `headers`, `content`.

        Raises:
            RobotsForbid: robots.txt forbids the page.
            EgressRefused: every identity that tried was refused, or its proxy was dead.
            Reschedule, NoIdentities: there is no further identity.
            HostUnreachable: the server does not answer.
        """
        tried: list[int] = []
        status: int | None = None
        for _ in range(self._rotations + 1):
            if tried:
                await self._take(tried)
            identity, browser = self.identity, self._opened()
            try:
                if self._heeds_robots:
                    await _robots.check(url, identity.user_agent, browser.read_text)
                response = await browser.send(method, url, **options)
            except ProxyFailed:
                self._verdict = Fared("unreachable")
            else:
                status = response.status_code
                self._verdict = judge(status, response.headers, datetime.now(UTC))
                if self._verdict.outcome == "fine":
                    return response
            tried.append(identity.identity_id)
            await self._give_back()
        raise EgressRefused(
            f"{without_query(url)} refused {len(tried)} egress identities, last with {status or 'a dead proxy'}",
            status=status,
        )

    def _opened(self) -> Browser:
        if self._browser is None:
            raise BadInput("this Web has no identity any more: its last request has failed")
        return self._browser

    async def _take(self, tried: list[int]) -> None:
        job = self._job
        async with job.prepare() as tx:
            [row] = await tx.call("take_identity", job.id, job.attempt, job.incarnation, avoid=tried)
        if row["identity_id"] is None:
            if not row["left_over"]:
                raise NoIdentities("all egress identities are retired: `leasehold egress list --all` says why")
            raise Reschedule(
                LOOK_AGAIN_SECONDS if row["wait_for"] is None else max(row["wait_for"], 0.0),
                "no egress identity is free",
            )
        self._identity = from_row(LeasedIdentity, row)
        self._verdict = None
        self._browser = Browser(self._identity, self._timeout)

    async def _give_back(self) -> None:
        """Close the connections and say how the identity fared, unless that is done."""
        identity, browser, verdict = self._identity, self._browser, self._verdict
        self._browser = None
        if identity is None or browser is None:
            return
        await browser.close()
        outcome, cool_for = (None, None) if verdict is None else (verdict.outcome, verdict.cool_for)
        async with self._job.prepare() as tx:
            await tx.call("return_identity", identity.identity_id, identity.lease_token, outcome, cool_for)


def host_of(url: str) -> str:
    """The host and port of a URL, as the `key_group` of jobs: limits on `*` then hold for each host.

    Raises:
        BadInput: it is no URL of http or https.
    """
    with suppress(ValueError):  # brackets that do not close, a port that is none
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts.netloc.rpartition("@")[2].lower()
    raise BadInput(f"{without_query(url)!r} is no URL of http or https")
