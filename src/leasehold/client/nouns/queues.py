"""Queues: list, pause, limit and wake them."""

from __future__ import annotations

import builtins
from datetime import datetime, timedelta

from leasehold import validation
from leasehold.client.core import Part
from leasehold.records.queues import KeyGroupRecord, LimitRecord, QueueReason, QueueRecord

WHOLE_QUEUE = ""


class Queues(Part):
    """`client.queues`. A queue exists as soon as a job names it; nobody creates it."""

    async def list(self) -> list[QueueRecord]:
        """List the queues that have jobs, workers or limits, or that are paused."""
        return await self._records(QueueRecord, "list_queues")

    async def pause(self, queue: str, reason: str | None = None) -> bool:
        """Claim nothing more from a queue; returns whether this changed anything. Jobs that run go on.

        Example:
            await client.queues.pause("mail", "the mail server is down")

        Args:
            reason: is listed with the queue.

        Raises:
            BadInput: the name of the queue is refused.
        """
        return bool(await self._database.call_value("pause_queue", queue, reason))

    async def resume(self, queue: str) -> bool:
        """Claim from a paused queue again; returns whether this changed anything."""
        return bool(await self._database.call_value("resume_queue", queue))

    async def set_ageing(self, queue: str, every: timedelta | None) -> bool:
        """Give pending jobs of a queue one more priority for each `every` that they have waited; None: give no more.

        A job never gets above the highest priority that is pending in the queue: there it is the oldest, and next.
        Returns whether this changed anything.

        Raises:
            BadInput: `every` is out of range.
        """
        return bool(await self._database.call_value("set_ageing", queue, every))

    async def limits(self, queue: str | None = None) -> builtins.list[LimitRecord]:
        """List the limits of one queue, or of all, and how far each is used now."""
        return await self._records(LimitRecord, "list_limits", queue)

    async def set_limit(
        self,
        queue: str,
        key_group: str = WHOLE_QUEUE,
        *,
        max_running: int | None = None,
        rate: float | None = None,
        burst: int | None = None,
    ) -> bool:
        """Limit a queue, each key group of it, or one group, over all workers; returns whether this changed anything.

        The limit holds for every claim from now on. Jobs that run count, and go on. A job has to fit the limit of its queue
        and that of its group.

        Example:
            await client.queues.set_limit("crawl", "*", max_running=2, rate=1.0)

        Args:
            key_group: empty for the queue as a whole, `*` for each group of it, else one group; the limit of one group
                replaces that of `*`.
            max_running: how many jobs workers may hold at once, 0 for none.
            rate: how many attempts may start in a second on average.
            burst: how many may start at once after a pause; None: those of one second, at least 1.

        Raises:
            BadInput: nothing to limit, or a number out of range.
            WrongState: a transaction that claims from the queue does not end; nothing changed.
        """
        if max_running is not None:
            validation.check_integer("max_running", max_running)
        if burst is not None:
            validation.check_integer("burst", burst)
        if rate is not None and not validation.is_number(rate):
            raise validation.refusal("rate", "a number of jobs in a second", rate)
        changed = await self._database.call_value(
            "set_limit", queue, key_group, max_running, None if rate is None else float(rate), burst
        )
        return bool(changed)

    async def drop_limit(self, queue: str, key_group: str = WHOLE_QUEUE) -> bool:
        """Take a limit away; returns whether there was one.

        Raises:
            WrongState: as `set_limit`.
        """
        return bool(await self._database.call_value("drop_limit", queue, key_group))

    async def explain(self, queue: str) -> builtins.list[QueueReason]:
        """Tell what the pending jobs of a queue wait for, the weightiest reason first; nothing where nothing holds them up."""
        return await self._records(QueueReason, "explain_queue", queue)

    async def groups(self, queue: str, *, most: int = 50) -> builtins.list[KeyGroupRecord]:
        """List the key groups of a queue that have jobs to do, those first that hold most.

        Raises:
            BadInput: `most` is not from 1 to 1000.
        """
        return await self._records(KeyGroupRecord, "list_key_groups", queue, most)

    async def wake(self, queue: str | None = None) -> None:
        """Make the workers of a queue, or all workers, look for jobs now."""
        await self._database.call("wake", queue)

    async def last_completion(self, queue: str) -> datetime | None:
        """Return when a job of the queue completed last; None: none has."""
        found = await self._database.call_value("get_last_completion", queue)
        return found if isinstance(found, datetime) else None
