"""A worker takes a new incarnation when the database begins a new epoch, after a failover or a restore.

The last commits may be lost then, so that the database may give a claimed job to another worker. The worker keeps the
jobs whose rows still name its attempt: nobody else has had them. It stops the handlers of all others.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from uuid import UUID, uuid4

from leasehold.actors.attempts.held_job import HeldJob
from leasehold.actors.epochs import STANDBY
from leasehold.actors.worker.parts import WorkerParts
from leasehold.actors.worker.presence import Presence
from leasehold.database import Caller
from leasehold.errors import DatabaseUnavailable

log = logging.getLogger(__name__)

MOST_NAMED = 20
REASONS = {"lost": "not_found", "taken": "taken_by_another_worker", "busy": "error"}
"""The reason for cancelling the handler of an attempt that is not kept, by the answer of `adopt_jobs`."""


class EpochChange:
    """Moves the worker to a new epoch when the watch has noticed one. Until it has, only the connection of this actor can be
    used."""

    name = "epoch change"

    def __init__(self, parts: WorkerParts, presence: Presence) -> None:
        self._parts = parts
        self._presence = presence
        self._epochs = parts.process.epochs
        self._former: UUID | None = None

    async def run(self) -> None:
        """Move until cancelled. Raises DatabaseUnavailable; called again, it goes on where it was.

        Before this runs, a worker holds no jobs, and `EpochWatch` moves the process by itself.
        """
        self._epochs.wait_for_change()
        async with self._parts.process.database.reserve("epoch change", greeted=False) as connection:
            while True:
                while not self._epochs.is_over:
                    await self._epochs.noticed.wait()
                await self._change(connection)

    async def _change(self, connection: Caller) -> None:
        rows = await connection.call("find_epoch", self._epochs.epoch, self._epochs.position)
        if not rows:
            raise DatabaseUnavailable(STANDBY)
        if rows[0]["epoch"] != self._epochs.epoch:
            await self._begin_anew(connection, rows[0]["epoch"], rows[0]["timeline"])
        else:
            self._epochs.begin(rows[0]["epoch"])

    async def _begin_anew(self, connection: Caller, epoch: int, timeline: int | None) -> None:
        identity, holdings = self._parts.identity, self._parts.holdings
        # A second try uses the same incarnations. Until the end, no other part of the process can reach the database.
        # From here on, answers to statements of the former incarnation are dropped.
        former = self._former = self._former or identity.incarnation
        if not identity.is_changing_epoch:
            identity.is_changing_epoch, identity.incarnation = True, uuid4()
        new = identity.incarnation
        await self._presence.register(connection)
        kept = [job for job in holdings.values() if job.lost is None]
        outcomes = await _adopt(connection, former, new, kept)
        await _hand_back(connection, former, {job for job, outcome in outcomes.items() if outcome == "busy"})
        await connection.call("stop_worker", former)

        for held in list(holdings.values()):
            if outcomes.get(held.id) == "adopted" and held in kept:
                held.incarnation = new
            else:
                held.lose(REASONS.get(outcomes.get(held.id, "lost"), "not_found"))
        self._former, identity.is_changing_epoch = None, False
        self._epochs.begin(epoch)
        lost = sorted(job for job, outcome in outcomes.items() if outcome == "lost")
        self._log(epoch, timeline, lost, outcomes)
        self._presence.forget_commands()
        self._parts.dispatcher.wake()
        await connection.call("report_losses", epoch, lost)

    def _log(self, epoch: int, timeline: int | None, lost: Sequence[int], outcomes: dict[int, str]) -> None:
        kept = sum(outcome == "adopted" for outcome in outcomes.values())
        log.warning(
            "the database has failed over or was restored: worker %s goes on in epoch %d (timeline %s) with %d of %d jobs, "
            "%d were stopped because they run again, and %d are lost, for the database does not know them%s",
            self._parts.identity.worker_id, epoch, timeline, kept, len(outcomes), len(outcomes) - kept - len(lost), len(lost),
            f": {', '.join(map(str, lost[:MOST_NAMED]))}{' …' if len(lost) > MOST_NAMED else ''}" if lost else "",
            extra={"epoch": epoch, "lost_jobs": list(lost[:MOST_NAMED]), "incarnation": str(self._parts.identity.incarnation)},
        )  # fmt: skip


async def _adopt(connection: Caller, former: UUID, new: UUID, held: Sequence[HeldJob]) -> dict[int, str]:
    """What becomes of each job, by its id: adopted, busy, taken or lost."""
    ids, attempts = [each.id for each in held], [each.attempt for each in held]
    return {row["job_id"]: row["outcome"] for row in await connection.call("adopt_jobs", former, new, ids, attempts)}


async def _hand_back(connection: Caller, former: UUID, busy: set[int]) -> None:
    """Hand back what the former incarnation holds in the database: the worker has ended it, and the database forgot."""
    rows = [row for row in await connection.call("held_jobs", former) if row["job_id"] not in busy]
    if rows:
        rows.sort(key=lambda row: row["job_id"])
        ids, attempts = [row["job_id"] for row in rows], [row["attempt"] for row in rows]
        await connection.call("release_jobs", former, ids, attempts)
