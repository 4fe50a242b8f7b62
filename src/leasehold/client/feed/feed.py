"""A feed: what happens to jobs and workers, read from the database a little at a time.

Ends of jobs and all that stands in job_events are reported at least once and almost always once, in the order of their times.
A change is visible when its transaction has committed, which may be after later ones: so each look goes over the last
`OVERLAP` again and leaves out what was reported, and every few seconds the numbers of each second are compared with what was
reported, back to the oldest transaction that was open (at most `LONGEST`). If a second has more
rows than last time, it reports the new ones; if it no longer knows which are new, it reports all of them.

Creation, claim, start, and workers that come and go are looked at as they are at each look; what came and went between
two looks is not reported, nor later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator
from datetime import datetime, timedelta
from time import monotonic

from leasehold.client.feed.changes import Change, change_from_row, instant_of, microseconds_of
from leasehold.client.feed.memory import SECOND, Reported, Watermark, counts_from_rows
from leasehold.database import Caller, Row

PAGE = 1000
OVERLAP = timedelta(seconds=2)
BEFORE_START = timedelta(seconds=60)
BEFORE_WATERMARK = timedelta(seconds=30)  # a statement knows its time before its transaction has a number
LONGEST = timedelta(minutes=15)
AUDIT_SECONDS = 5.0
AUDIT_SHARE = 50  # an audit takes no more than a fiftieth of the time
NEW_IDS_FOR = timedelta(seconds=5)
REMEMBERED_FOR = timedelta(seconds=15)
NO_ID_YET = 2**62


class Feed:
    """Reads what has happened since the last look.

    After DatabaseUnavailable a look is made again and nothing is lost. Of either flavour, like its caller.

    Args:
        caller: of any kind; one connection is used by one look after the other.

    Attributes:
        is_behind: there is more than one look takes; look again at once.
        lag: how far it is behind.
        cursor: microseconds since 1970. Whatever happened before, and was not reported by this feed, cannot appear any more:
            `replay` from there tells all that is later.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._reported = Reported()
        self._arrivals: dict[tuple[object, ...], datetime] = {}
        self._newest: deque[tuple[datetime, int]] = deque()
        self._after_id = NO_ID_YET
        self._claims_since: datetime | None = None
        self._from: tuple[datetime, int] | None = None
        self._watermark: Watermark | None = None
        self._audited = monotonic()
        self._audit_pause = AUDIT_SECONDS
        self._found: list[Change] = []
        self.is_behind = False
        self.lag = timedelta(0)
        self.cursor = 0

    async def read(self) -> list[Change]:
        """What has happened since the last look, or, at the first, nothing. Raises DatabaseUnavailable."""
        is_due = self._watermark is None or monotonic() >= self._audited + self._audit_pause
        (horizon,) = await self._caller.call("get_horizon", is_due)
        now: datetime = horizon["at"]
        if self._from is None or self._watermark is None or now < self._from[0]:  # at first, or the clock was set back
            self._from, self._watermark = await self._begin(now)
        await self._read_changes(now, self._from)
        await self._read_arrivals(now)
        if is_due:
            await self.audit(horizon)
        self.cursor = microseconds_of(min(self._watermark.at, self._from[0]))
        return self.take()

    def take(self) -> list[Change]:
        """What was found and not returned yet: a look that ends in the middle leaves its changes to the next one."""
        found, self._found = self._found, []
        return sorted(found, key=lambda change: change.at)

    async def skip(self) -> None:
        """Forget what was not reported yet and go on from now."""
        self._from = self._watermark = None
        self.is_behind = False
        await self.read()

    async def _begin(self, now: datetime) -> tuple[tuple[datetime, int], Watermark]:
        before = now - BEFORE_START
        known_from = _second(before - BEFORE_WATERMARK)  # as far back as an audit looks
        self._reported.accept(counts_from_rows(await self._caller.call("count_changes", known_from, now)))
        return (now, 0), Watermark(before, LONGEST)

    async def _read_changes(self, now: datetime, start: tuple[datetime, int]) -> None:
        rows = await self._caller.call("list_changes", start[0], None, start[1], PAGE)
        self._found += self._reported.fresh(map(change_from_row, rows))
        self.is_behind = len(rows) == PAGE
        last = rows[-1] if self.is_behind else None
        start = (max(start[0], now - OVERLAP), 0) if last is None else (last["at"], last["job_id"])
        self._from = start
        self.lag = max(now - start[0] - OVERLAP, timedelta(0)) if self.is_behind else timedelta(0)

    async def _read_arrivals(self, now: datetime) -> None:
        since = self._claims_since or now
        rows = await self._caller.call("list_arrivals", self._after_id, since, PAGE)
        self._claims_since = now - OVERLAP
        newest: int = rows[0]["newest_id"]
        self._newest.append((now, newest))
        crowded = sum(row["event"] == "created" for row in rows) >= PAGE
        while len(self._newest) > 1 and (crowded or self._newest[0][0] < now - NEW_IDS_FOR):
            self._newest.popleft()
        self._after_id = self._newest[0][1]
        self._found += self._fresh_arrivals(rows, now)

    def _fresh_arrivals(self, rows: list[Row], now: datetime) -> list[Change]:
        known = self._arrivals
        found = [change_from_row(row) for row in rows if row["event"] is not None]
        fresh = [change for change in found if change.identity not in known]
        known = {identity: at for identity, at in known.items() if at >= now - REMEMBERED_FOR}
        self._arrivals = known | {change.identity: now for change in found}
        return fresh

    async def audit(self, horizon: Row) -> None:
        """Compare what was reported with what is there, and find what is there by now in the seconds that have grown.

        Args:
            horizon: from get_horizon, with a mark.
        """
        assert self._from is not None
        assert self._watermark is not None
        began = monotonic()
        start = self._watermark.at - BEFORE_WATERMARK
        first, last = _second(start), _second(self._from[0])
        counts = counts_from_rows(await self._caller.call("count_changes", first, last))
        for second in self._reported.incomplete(counts):
            at = instant_of(second * SECOND)
            async for page in replay(self._caller, at, at + timedelta(seconds=1)):
                self._found += self._reported.late(page)
        self._reported.accept(counts)
        self._watermark.look(horizon["at"], horizon["oldest_xid"], horizon["mark_xid"])
        self._reported.forget(self._from[0], start)
        self._audited = monotonic()
        self._audit_pause = max(AUDIT_SECONDS, AUDIT_SHARE * (self._audited - began))


async def replay(caller: Caller, since: datetime, until: datetime | None = None) -> AsyncGenerator[list[Change]]:
    """What happened between two moments, a page at a time, as far as it is kept and did not come from list_arrivals."""
    start, from_id = since, 0
    seen: set[tuple[object, ...]] = set()
    while True:
        rows = await caller.call("list_changes", start, until, from_id, PAGE)
        page = [change for change in map(change_from_row, rows) if change.identity not in seen]
        if page:
            yield page
        if len(rows) < PAGE:
            return
        start, from_id = rows[-1]["at"], rows[-1]["job_id"]
        seen = {change.identity for change in page if (change.at, change.job_id) == (start, from_id)}


def _second(at: datetime) -> datetime:
    return at.replace(microsecond=0)
