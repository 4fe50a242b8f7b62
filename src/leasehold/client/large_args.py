"""Args that are too large for a row, on their way into the database: the payload and the job are one commit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from leasehold.asks.enqueueing import JobBatch
from leasehold.database import Caller, Row
from leasehold.jobs.producing.new_job import NewJob
from leasehold.payloads.claims.locker import Deposit, Locker

KEPT = ("existing", "extended")
"""Outcomes of an enqueue after which the job has the args that it had."""

Deposits = dict[int, Deposit]
"""By the place of the job in the list."""


async def deposit_large(locker: Locker, jobs: Sequence[NewJob[Any]]) -> tuple[list[NewJob[Any]], Deposits]:
    """The jobs, with claim checks in the place of large args, whose content is in the store now.

    Args that `unique` compares stay in the row: two claim checks are never equal.
    """
    sent, deposits = list(jobs), Deposits()
    try:
        for place, job in enumerate(jobs):
            args: Any = job.args
            if isinstance(args, msgspec.Raw) and locker.is_large(len(memoryview(args))) and not _compares_args(job):
                deposits[place] = await locker.deposit(bytes(args), "args", job.kind)
                sent[place] = msgspec.structs.replace(job, args=msgspec.Raw(deposits[place].check.encode()))
    except BaseException:
        await forget(locker, deposits.values())
        raise
    return sent, deposits


def _compares_args(job: NewJob[Any]) -> bool:
    unique = job.unique
    return unique is not None and unique.key is None and any(name.startswith("args") for name in unique.by or ("args",))


async def write_with(locker: Locker, caller: Caller, batch: JobBatch, deposits: Deposits) -> list[Row]:
    """Enqueue the jobs in this transaction, and make the rows of the payloads that they name."""
    ask = batch.ask(notify=True)
    rows = await caller.call(ask.function, *ask.values)
    for place, deposit in deposits.items():
        if rows[place]["outcome"] not in KEPT:
            await locker.record(deposit, rows[place]["job_id"], caller)
    return rows


async def forget_unused(locker: Locker, rows: Sequence[Row], deposits: Deposits) -> None:
    """Delete the content that no job has come to name."""
    await forget(locker, [deposit for place, deposit in deposits.items() if rows[place]["outcome"] in KEPT])


async def forget(locker: Locker, deposits: Iterable[Deposit]) -> None:
    """Delete this content."""
    for deposit in deposits:
        await locker.forget(deposit)
