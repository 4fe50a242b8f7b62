"""Polls of an idle worker ask for the epoch of the database, so that the process need not ask for it besides."""

from __future__ import annotations

from collections.abc import Mapping

import trio

from leasehold.actors.claiming.look import is_due
from leasehold.actors.shared.epochs import LOOK_SECONDS, EpochWatch
from leasehold.database import Row


class EpochRider:
    """Rides for the watch of the process."""

    def __init__(self, watch: EpochWatch) -> None:
        self._watch = watch

    def ask(self, next_in: float) -> Mapping[str, object]:
        """The epoch that the process is in and its last position, where it is time to ask."""
        watch = self._watch
        if watch.epoch is None or not is_due(trio.current_time() - watch.asked_at, LOOK_SECONDS, next_in):
            return {}
        return {"known": watch.epoch, "seen": watch.position}

    def hear(self, row: Row) -> None:
        """What the database has told. Raises EpochOver if the process has to turn to another epoch first."""
        if (found := row.get("epoch")) is not None:
            self._watch.found(found, row["position"], self._watch.notice)
            self._watch.asked_at = trio.current_time()
