"""Whether claiming slows down when much is waiting. Claims on two databases take turns, so both see the same machine."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from benchmarks.figures import Figure, Result, Say, Size, middle
from benchmarks.filling import fill, fill_behind_key, fill_narrow
from benchmarks.line import Line, NarrowLine
from benchmarks.server import Server, connected

BATCHES = (10, 400)


class BacklogSize(msgspec.Struct, frozen=True):
    """How many jobs wait, how many of one busy key and how many free ones behind them, how many claims of each size."""

    pending: int
    behind_key: int
    free: int
    claims: int


SIZES = {
    "full": BacklogSize(1_000_000, 100_000, 50_000, 60),
    "quick": BacklogSize(50_000, 10_000, 20_000, 20),
    "tiny": BacklogSize(3_000, 1_000, 3_000, 2),
}
HARDLY_ANY = 2 * max(BATCHES)


class Contest(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds of each claim, in the order they ran: on the long line, on the short one."""

    batch: int
    long: Sequence[float]
    short: Sequence[float]

    @property
    def ratio(self) -> float:
        """How fast the long line is, as a share of the short one."""
        return middle(self.short) / middle(self.long)

    @property
    def jobs_per_second(self) -> float:
        """Claimed from the long line."""
        return self.batch / middle(self.long)


class BacklogResult(Result, frozen=True, kw_only=True):
    """By batch size."""

    sizes: BacklogSize
    pending: Sequence[Contest]
    keyed: Sequence[Contest]


async def measure(server: Server, size: Size, say: Say) -> BacklogResult:
    """A million pending jobs against hardly any, and free jobs behind the line of a busy key against free jobs alone."""
    sizes = SIZES[size]
    async with (
        server.database() as long,
        connected(long) as one,
        server.database() as short,
        connected(short) as other,
    ):
        say(f"{sizes.pending:,} pending jobs")
        await fill(one, sizes.pending)
        await fill(other, HARDLY_ANY)
        await fill_narrow(one, sizes.pending)
        pending = [await _contest(Line(one), Line(other, refills=True), batch, sizes.claims) for batch in BATCHES]
        narrow = [await _contest(NarrowLine(one), None, batch, sizes.claims) for batch in BATCHES]
    async with (
        server.database() as long,
        connected(long) as one,
        server.database() as short,
        connected(short) as other,
    ):
        say(f"{sizes.free:,} free jobs behind {sizes.behind_key:,} jobs of a busy key")
        await fill_behind_key(one, sizes.behind_key)
        await fill(one, sizes.free)
        await fill(other, sizes.free)
        keyed = [await _contest(Line(one), Line(other), batch, sizes.claims) for batch in BATCHES]
    return BacklogResult(
        figures=[
            *_figures(f"{sizes.pending:,} pending jobs", f"against {HARDLY_ANY:,}", pending, narrow),
            *_figures(
                f"{sizes.free:,} free jobs behind {sizes.behind_key:,} of a busy key", "against none", keyed, narrow
            ),
        ],
        sizes=sizes,
        pending=pending,
        keyed=keyed,
    )


async def _contest(long: Line, short: Line | None, batch: int, claims: int) -> Contest:
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(claims):
        times[0].append(await long.claim(batch))
        if short is not None:
            times[1].append(await short.claim(batch))
    return Contest(batch=batch, long=times[0], short=times[1] or times[0])


def _figures(line: str, rival: str, contests: Sequence[Contest], floors: Sequence[Contest]) -> Sequence[Figure]:
    figures: list[Figure] = []
    for contest, floor in zip(contests, floors, strict=True):
        name = f"{line}, claims of {contest.batch}"
        figures.append(Figure(name=name, value=contest.jobs_per_second, unit="jobs/s", floor=floor.jobs_per_second))
        figures.append(Figure(name=f"{name}, speed {rival}", value=contest.ratio, unit="×", at_least=0.8))
    return figures
