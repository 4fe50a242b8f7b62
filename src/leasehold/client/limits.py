"""Limits on queues and key groups, over the whole fleet."""

from __future__ import annotations

from leasehold import validation
from leasehold.client.section import Section
from leasehold.database.rows import from_row
from leasehold.records.queues import LimitRecord

WHOLE_QUEUE = ""
EACH_GROUP = "*"


class Limits(Section):
    """The section of the client for limits: how many jobs run at once and how many start in a second."""

    async def set_limit(
        self,
        queue: str,
        key_group: str = WHOLE_QUEUE,
        *,
        max_running: int | None = None,
        rate: float | None = None,
        burst: int | None = None,
    ) -> bool:
        """Limit a queue, each key group of it, or one group; returns whether this changed anything.

        In force for every claim from now on; what runs already counts, and nothing is taken back.

        Args:
            queue: its name.
            key_group: empty for the queue as a whole, `*` for each group of it, else one group, which is then free of
                what `*` says. A job has to fit the limit of its queue and that of its group.
            max_running: how many jobs may be held at once, 0 for none.
            rate: how many may start in a second on the long run; each attempt counts.
            burst: how many may start at once after a pause; None: those of one second, at least 1.

        Raises:
            BadInput: nothing to limit, or a number out of range.
            WrongState: somebody claims from the queue in a transaction that does not end; nothing changed.
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
        """Take a limit away; returns whether there was one. Raises WrongState as `set_limit`."""
        return bool(await self._database.call_value("drop_limit", queue, key_group))

    async def limits(self, queue: str | None = None) -> list[LimitRecord]:
        """The limits, all or those of one queue, and how far each is used now."""
        return [from_row(LimitRecord, row) for row in await self._database.call("list_limits", queue)]
