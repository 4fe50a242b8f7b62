"""What a worker does when it hears a notice. Which workers a notice names is decided in SQL, by `name_idle_workers`."""

from __future__ import annotations

from leasehold.actors.worker.parts import WorkerParts
from leasehold.notify.channel import CommandNotice, Lost, Pause, Wake
from leasehold.notify.switchboard import Switchboard


def subscribe(switchboard: Switchboard, parts: WorkerParts) -> None:
    """Have the parts of a worker hear the notices that are for it."""

    def hear_wake(notice: Wake) -> None:
        if not parts.identity.serves(notice.queue):
            return
        if notice.means(parts.identity.incarnation):
            parts.dispatcher.wake()
        else:
            parts.dispatcher.overhear()

    def hear_pause(notice: Pause) -> None:
        parts.dispatcher.pause_queue(notice.queue)

    def hear_command(notice: CommandNotice) -> None:
        if notice.incarnation == str(parts.identity.incarnation):
            parts.news.set()

    def hear_lost(notice: Lost) -> None:
        held = parts.holdings.get(notice.job_id)
        if held is not None and held.attempt == notice.attempt:
            held.lose(notice.reason)

    def look_again() -> None:
        parts.news.set()
        parts.dispatcher.wake()

    switchboard.subscribe(Wake, hear_wake)
    switchboard.subscribe(Pause, hear_pause)
    switchboard.subscribe(CommandNotice, hear_command)
    switchboard.subscribe(Lost, hear_lost)
    switchboard.subscribe_reconnect(look_again)
