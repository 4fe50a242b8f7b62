"""`leasehold chains complete`, `chains cancel` and `chains delete`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType

from leasehold.cli.commands.chains.read import ChainId
from leasehold.cli.commands.chains.view import view_one_chain
from leasehold.cli.commands.jobs.enqueue import parse_object
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.loading import load_app
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views.text import plain
from leasehold.errors import BadInput
from leasehold.records.chains import ChainRecord


class DeletedChains(msgspec.Struct, frozen=True, kw_only=True):
    """Which chains were removed."""

    chain_ids: list[int]


def view_deleted(report: DeletedChains, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    count = len(report.chain_ids)
    named = ", ".join(str(each) for each in report.chain_ids[:20]) + (", …" if count > 20 else "")
    return [plain(f"deleted {count} chain{'' if count == 1 else 's'}: {named}")]


@shown_as(view_one_chain)
async def chains_complete(
    chain_id: ChainId,
    output: Annotated[str, Parameter(help="What the chain ends with, JSON.")] = "null",
    /,
    *,
    next: Annotated[str | None, Parameter(help="Continue it with a job of this kind instead.")] = None,
    args: Annotated[str, Parameter(help="Args of the next job, a JSON object.")] = "{}",
    context: Annotated[CommandContext, INJECTED],
) -> ChainRecord:
    """Complete the open job of a chain without a worker.

    The job may be in any state. A worker that runs it is told to stop, and its result is refused.

    Example:
      leasehold chains complete 42 '{"approved": true}'
      leasehold chains complete 42 --next ship --args '{"order": 7}'
    """
    from leasehold.jobs.producing.new_job import NewJob  # noqa: PLC0415

    follower = None if next is None else NewJob(kind=next, args=parse_object("args", args))
    place = context.settings.app
    async with context.client(load_app(place) if place else None) as client:
        await client.chains.complete(chain_id, _parse(output), continue_with=follower)
        return await client.chains.get(chain_id)


@shown_as(view_one_chain)
async def chains_cancel(
    chain_id: ChainId,
    /,
    *,
    reason: Annotated[str | None, Parameter(help="For people; stands in the job's error.")] = None,
    context: Annotated[CommandContext, INJECTED],
) -> ChainRecord:
    """Cancel the open job of a chain.

    Jobs that wait for the chain keep waiting, since a retry of the job opens the chain again.

    Example:
      leasehold chains cancel 42 --reason "no stock"
    """
    async with context.client() as client:
        await client.chains.cancel(chain_id, reason)
        return await client.chains.get(chain_id)


@shown_as(view_deleted)
async def chains_delete(
    chain_id: ChainId,
    /,
    *,
    cascade: Annotated[
        bool, Parameter(help="Also the chains it waits or waited for that nobody else waits for.")
    ] = False,
    context: Annotated[CommandContext, INJECTED],
) -> DeletedChains:
    """Remove a chain with all its jobs, finished or not.

    Refused while a job outside waits for it. A worker that runs a job of it is told to stop.

    Example:
      leasehold chains delete 42 --cascade
    """
    async with context.client() as client:
        return DeletedChains(chain_ids=await client.chains.delete(chain_id, cascade=cascade))


def _parse(output: str) -> Any:
    try:
        return msgspec.json.decode(output)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise BadInput(f"the output is no JSON: {error}; text needs its quotes, as in '\"yes\"'") from error
