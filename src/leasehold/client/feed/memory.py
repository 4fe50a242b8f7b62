"""What a feed remembers: what it has reported lately, how much of each second, and since when nothing older can appear."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from leasehold.client.feed.changes import Change, microseconds_of
from leasehold.database import Row

SECOND = 1_000_000
MOST_MARKS = 400
MOST_RECENT = 50_000


class Reported:
    """Remembers changes by identity for a while, the last 50,000 at least, and by number and sum of job ids for each second."""

    def __init__(self) -> None:
        self._recent: dict[tuple[object, ...], datetime] = {}
        self._seconds: dict[int, tuple[int, int]] = {}

    def fresh(self, changes: Iterable[Change]) -> list[Change]:
        """Those that have not been reported; they count as reported from now on."""
        fresh: list[Change] = []
        for change in changes:
            identity = change.identity
            if identity not in self._recent:
                self._recent[identity] = change.at
                self._add(change)
                fresh.append(change)
        return fresh

    def _add(self, change: Change) -> None:
        second = microseconds_of(change.at) // SECOND
        count, ids = self._seconds.get(second, (0, 0))
        self._seconds[second] = (count + 1, ids + (change.job_id or 0))

    def accept(self, counts: Mapping[int, tuple[int, int]]) -> None:
        """Take what is there as reported."""
        self._seconds.update(counts)

    def incomplete(self, counts: Mapping[int, tuple[int, int]]) -> list[int]:
        """The seconds in which there is more than was reported, or something else. Less is there where jobs were deleted or run
        once more, which are changes of their own."""
        return sorted(
            second
            for second, (count, ids) in counts.items()
            if (known := self._seconds.get(second, (0, 0)))[0] < count or (known[0] == count and known[1] != ids)
        )

    def late(self, changes: Iterable[Change]) -> list[Change]:
        """Of an incomplete second, what was not reported, as far as that is remembered."""
        late = [change for change in changes if change.identity not in self._recent]
        self._recent.update((change.identity, change.at) for change in late)
        return late

    def forget(self, before: datetime, seconds_before: datetime) -> None:
        """Forget seconds that will not be asked for any more, and identities from before a moment as far as there are too many."""
        excess = len(self._recent) - MOST_RECENT
        old = [identity for identity, at in self._recent.items() if at < before][: max(0, excess)]
        for identity in old:
            del self._recent[identity]
        oldest = microseconds_of(seconds_before) // SECOND
        self._seconds = {second: known for second, known in self._seconds.items() if second >= oldest}


class Watermark:
    """The moment before which nothing can appear any more, since every transaction of that time has ended.

    A look is marked with the number of a transaction that began with it: once the oldest one that is open is younger, all
    that was open at that look has ended.

    Args:
        start: nothing is known to be over before the first look.
        longest: a transaction that stays open for longer is not waited for.
    """

    def __init__(self, start: datetime, longest: timedelta) -> None:
        self.at = start
        self._longest = longest
        self._marks: deque[tuple[datetime, int]] = deque(maxlen=MOST_MARKS)

    def look(self, now: datetime, oldest_xid: int, mark_xid: int) -> None:
        """Remember a look, and move on as far as it allows."""
        self._marks.append((now, mark_xid))
        while self._marks and self._marks[0][1] < oldest_xid:
            self.at = max(self.at, self._marks.popleft()[0])
        self.at = max(self.at, now - self._longest)


def counts_from_rows(rows: Sequence[Row]) -> dict[int, tuple[int, int]]:
    """Rows of count_changes."""
    return {row["second"]: (row["changes"], int(row["ids"])) for row in rows}
