"""What a failover does to a database, done by hand: it forgets what came after a moment, and its history has another mark."""

from __future__ import annotations

from leasehold.database import Database

FAIL_OVER = "select setval('leasehold.epochs_mark_seq', leasehold.epoch_mark() + (1::bigint << 32))"
"""As if the present epoch had begun on another timeline."""


async def begin_epoch(database: Database) -> int:
    """The database enters its first epoch."""
    return int(str(await database.call_value("find_epoch")))


async def fail_over(database: Database) -> None:
    """The next one who looks finds another timeline than before."""
    await database.fetch(FAIL_OVER)
