"""Sources: other queues in the same database, and moving them in."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Callable, Mapping

import msgspec

from leasehold.client.core import Part
from leasehold.moving.sources import MovedJobs, MovedSchedule, MoveReport, PlanLine, RefilledJobs, SourceRecord

BATCH = 5000
PATIENCE = 600.0  # a batch, or a look at all rows, of a big table without a fitting index


class Sources(Part):
    """`sources_of(client)`: queues of other libraries that move in. `leasehold import` defines them; a source may be left out where
    there is only one. Calling anything twice does no harm."""

    async def list(self) -> list[SourceRecord]:
        """List the sources, and how much of each has moved."""
        return await self._records(SourceRecord, "list_sources")

    async def plan(self, source: str | None = None) -> builtins.list[PlanLine]:
        """Tell what moving would do, and change nothing.

        Raises:
            UnknownSource: there is no such source.
            BadInput: its mapping does not fit its tables.
        """
        return await self._records(PlanLine, "plan_move", source, timeout=PATIENCE)

    async def seal(self, source: str | None = None) -> bool:
        """Have the source's own workers claim nothing more; returns whether this changed anything. What they run goes on.

        Raises:
            UnknownSource: as `plan`.
            BadInput: as `plan`; its own workers go on.
            WrongState: a transaction on one of its tables does not end.
        """
        await self.plan(source)
        return bool(await self._database.call_value("seal_source", source, True))

    async def open(self, source: str | None = None) -> bool:
        """Let the source's own workers claim again; returns whether this changed anything. What has moved stays here.

        Raises:
            UnknownSource, WrongState: as `seal`.
        """
        return bool(await self._database.call_value("seal_source", source, False))

    async def move_jobs(
        self,
        source: str | None = None,
        *,
        batch: int = BATCH,
        discard: bool | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> builtins.list[MovedJobs]:
        """Move all pending jobs, in batches of one transaction each. Jobs whose key runs there stay for a later call.

        Args:
            batch: how many of each table go in one transaction, 1 to 10000.
            discard: end them there and make no jobs; None: as the mapping says for each table.
            progress: called after each batch with the number of rows that are done so far.

        Raises:
            UnknownSource, BadInput: as `plan`.
            WrongState: the source is not sealed.
        """
        moved, cancelled = Counter[str](), Counter[str]()
        while True:
            rows = await self._database.call("move_jobs", source, batch, discard, timeout=PATIENCE)
            for row in rows:
                moved[row["source_table"]] += row["moved"]
                cancelled[row["source_table"]] += row["cancelled"]
            if not any(row["moved"] or row["cancelled"] for row in rows):
                return [MovedJobs(source_table=each, moved=moved[each], cancelled=cancelled[each]) for each in moved]
            if progress is not None:
                progress(moved.total() + cancelled.total())

    async def move_schedules(
        self, source: str | None = None, *, only_disable: bool = False, dry_run: bool = False
    ) -> builtins.list[MovedSchedule]:
        """Move the schedules: each is disabled there in the transaction that makes it here.

        Args:
            only_disable: disable those that are enabled, and make none; a later call moves them as enabled ones.
            dry_run: only tell.

        Raises:
            UnknownSource, BadInput: as `plan`.
        """
        return await self._records(MovedSchedule, "move_schedules", source, only_disable, dry_run, timeout=PATIENCE)

    async def refill(
        self,
        source: str | None = None,
        *,
        filters: Mapping[str, str] | None = None,
        only_rows: bool = False,
        dry_run: bool = False,
    ) -> builtins.list[RefilledJobs]:
        """Make the jobs that the mapping wants after the move, such as one for each shop. Whatever has an unfinished job of
        the kind gets none, and so does a row whose job would be refused: the answer counts these.

        Args:
            filters: only rows that have these values, by the names of the mapping's filters.
            only_rows: make no jobs but those for rows.
            dry_run: only tell.

        Raises:
            UnknownSource: as `plan`.
            BadInput: as `plan`, or a filter is unknown.
        """
        asked = None if filters is None else msgspec.json.encode(filters).decode()
        return await self._records(
            RefilledJobs, "refill_jobs", source, asked, only_rows, True, dry_run, timeout=PATIENCE
        )

    async def migrate(
        self, source: str | None = None, *, progress: Callable[[int], object] | None = None
    ) -> MoveReport:
        """Seal the source, move its schedules and then its jobs, and make what its mapping wants after the move.

        It goes on where a call before it was broken off. The source stays sealed: what still arrives there waits for the
        next call.

        Args:
            progress: as for `move_jobs`.

        Raises:
            UnknownSource, BadInput, WrongState: as the parts of it.
        """
        await self.seal(source)
        return MoveReport(
            schedules=await self.move_schedules(source),
            jobs=await self.move_jobs(source, progress=progress),
            refilled=await self.refill(source),
            refused=[each for each in await self.plan(source) if each.means == "refused"],
        )
