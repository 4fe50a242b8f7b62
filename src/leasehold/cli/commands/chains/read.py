"""`leasehold chains list`, `chains show` and `chains wait`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType

from leasehold.cli.commands.chains.view import ChainReport, view_chain, view_chains
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_ID, INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views.durations import parse_duration
from leasehold.cli.views.text import json_text, plain
from leasehold.records.chains import ChainRecord

ChainId = Annotated[int, Parameter(help="Id of the chain: that of its first job."), AN_ID]


class ChainOutput(msgspec.Struct, frozen=True, kw_only=True):
    """The output of a chain."""

    chain_id: int
    output: Any


def view_output(report: ChainOutput, _now: datetime) -> Sequence[RenderableType]:
    """The output alone, as JSON."""
    return [plain(line) for line in json_text(report.output).splitlines()]


@shown_as(view_chains)
async def chains_list(
    *,
    state: Annotated[str | None, Parameter(help="Only open, completed, failed or cancelled ones.")] = None,
    kind: Annotated[str | None, Parameter(help="Only chains whose first job is of this kind.")] = None,
    queue: Annotated[str | None, Parameter(help="Only chains whose first job is of this queue.")] = None,
    before: Annotated[int | None, Parameter(help="Only ids below this one: the last id of the page before.")] = None,
    limit: Annotated[int, Parameter(help="Chains per page, up to 1000.")] = 50,
    context: Annotated[CommandContext, INJECTED],
) -> list[ChainRecord]:
    """List chains, newest first.

    Every job is a chain, or continues one. A chain is open until its last job has ended.

    Example:
      leasehold chains list --state open --kind order
    """
    async with context.client() as client:
        chains = await client.chains.list(state=state, kind=kind, queue=queue, before_id=before, page_size=limit)
    if len(chains) == limit:
        context.say(f"more: --before {chains[-1].chain_id}")
    return chains


@shown_as(view_chain)
async def chains_show(
    chain_id: ChainId,
    /,
    *,
    after: Annotated[int, Parameter(help="Only jobs behind this place: the last of the page before.")] = -1,
    limit: Annotated[int, Parameter(help="Jobs per page, up to 1000.")] = 50,
    context: Annotated[CommandContext, INJECTED],
) -> ChainReport:
    """Show a chain job after job, what each waits for, and who waits for the chain.

    Example:
      leasehold chains show 42
      leasehold chains show 42 --output json
    """
    async with context.client() as client:
        chain = await client.chains.get(chain_id)
        jobs = await client.chains.jobs(chain_id, after_position=after, page_size=limit)
        blockers = {job.id: await client.jobs.blockers(job.id) for job in jobs}
        waiting = await client.chains.blocked_jobs(chain_id, page_size=10)
    if jobs and jobs[-1].chain_position < chain.jobs - 1:
        context.say(f"more: --after {jobs[-1].chain_position}")
    waited_for = {job_id: slots for job_id, slots in blockers.items() if slots}
    return ChainReport(chain=chain, jobs=jobs, blockers=waited_for, blocked_jobs=waiting)


@shown_as(view_output)
async def chains_wait(
    chain_id: ChainId,
    /,
    *,
    timeout: Annotated[str | None, Parameter(help="Wait no longer than this: 30s, 5m, 1h30m.")] = None,
    context: Annotated[CommandContext, INJECTED],
) -> ChainOutput:
    """Wait until a chain has ended, and print its output.

    The exit code is 1 when it failed or was cancelled, and 8 when the time was up.

    Example:
      leasehold chains wait $(leasehold enqueue echo) --timeout 1m
    """
    async with context.client() as client:
        output: Any = await client.wait(chain_id, timeout=parse_duration(timeout) if timeout else None)
    return ChainOutput(chain_id=chain_id, output=output)
