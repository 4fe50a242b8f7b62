"""Embedded Postgres kept running: started again when it dies, as `leasehold up` does with its processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import trio

from leasehold.cli.up.lines import OURSELVES
from leasehold.cli.up.processes import MOST_DEATHS, STABLE_SECONDS, ShowLine, jittered_delay
from leasehold.errors import LeaseholdError

LOOK_SECONDS = 1.0


class Server(Protocol):
    """What is needed of embedded Postgres. Both block."""

    def is_running(self) -> bool: ...

    def revive(self) -> None: ...


async def keep_running(
    server: Server, show: ShowLine, give_up: Callable[[str, int], None], delay: Callable[[int], float] = jittered_delay
) -> None:
    """Start it again whenever it is gone; returns after `give_up` was called with what happened and how often.

    Goes on until cancelled, also while the other processes stop, because their jobs still need the database. If another
    process starts it first, that counts as our start.
    """
    deaths = 0
    started = trio.current_time()
    what = "embedded Postgres has died"
    while True:
        if await trio.to_thread.run_sync(server.is_running):
            await trio.sleep(LOOK_SECONDS)
            continue
        deaths = 1 if trio.current_time() - started > STABLE_SECONDS else deaths + 1
        if deaths >= MOST_DEATHS:
            give_up(what, deaths)
            return
        seconds = delay(deaths)
        show(OURSELVES, f"{what}; starting it again in {seconds:.1f} s", "warning")
        await trio.sleep(seconds)
        try:
            await trio.to_thread.run_sync(server.revive)
        except (LeaseholdError, OSError) as error:
            what = "embedded Postgres does not start"
            for line in str(error).splitlines():
                show(OURSELVES, line, "error")
        else:
            what = "embedded Postgres has died"
            show(OURSELVES, "embedded Postgres runs again")
        started = trio.current_time()
