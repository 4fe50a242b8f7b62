"""`leasehold chains …`, and how chains look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.commands.enqueue import parse_object
from leasehold.cli.commands.jobs import error_message, when
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_ID, AN_INTEGER, INJECTED
from leasehold.cli.runtime.outcome import one_of, shown_as
from leasehold.cli.views import ago, json_text, parse_duration, plain, state_text, table
from leasehold.errors import BadInput
from leasehold.records.jobs import BlockerRecord, ChainRecord, JobRecord

MOST_BLOCKERS = 8
MARKS = {"completed": "●", "failed": "✗", "cancelled": "✗"}


class ChainReport(msgspec.Struct, frozen=True, kw_only=True):
    """One chain: its jobs in their order, what each of them waits or waited for, and the first jobs that wait for it."""

    chain: ChainRecord
    jobs: list[JobRecord]
    blockers: dict[int, list[BlockerRecord]]
    blocked_jobs: list[JobRecord]


def view_chains(chains: list[ChainRecord], now: datetime) -> Sequence[RenderableType]:
    """One line per chain."""
    rows = [
        [
            str(chain.chain_id),
            state_text(chain.state),
            plain(chain.kind or "-"),
            plain(chain.queue or "-"),
            str(chain.jobs),
            Text.assemble(f"{chain.job_id} ", plain(chain.job_kind), " ", state_text(chain.job_state)),
            _when(chain, now),
        ]
        for chain in chains
    ]
    return [table(["chain", "state", "kind", "queue", "jobs", "last job", "when"], rows, right=("chain", "jobs"))]


def view_chain(report: ChainReport, now: datetime) -> Sequence[RenderableType]:
    """How it stands, its jobs one below the other with what each waits for, and who waits for it."""
    chain = report.chain
    jobs = "1 job" if chain.jobs == 1 else f"{chain.jobs} jobs"
    parts: list[RenderableType] = [
        Text.assemble(
            ("chain ", "bold"), str(chain.chain_id), "  ", state_text(chain.state), f"  {jobs}  {_when(chain, now)}"
        ),
        Text(),
        *_drawn(report, now),
    ]
    if chain.output is not None:
        parts += [
            Text(),
            Text("output", "bold"),
            *(plain("  " + line) for line in json_text(chain.output).splitlines()),
        ]
    if report.blocked_jobs:
        parts += [Text(), Text("waiting for it", "bold")]
        parts += [Text.assemble(f"  job {job.id} ", plain(job.kind)) for job in report.blocked_jobs]
    return parts


def _drawn(report: ChainReport, now: datetime) -> Iterator[Text]:
    width = max((len(job.kind) for job in report.jobs), default=0)
    digits = max((len(str(job.id)) for job in report.jobs), default=0)
    for job in report.jobs:
        yield _job_line(job, digits, width, now)
        line = " " if job.succeeded_by is None else "│"
        if job.error is not None:
            yield Text.assemble(f"{line}   ", plain(error_message(job.error).split("\n", maxsplit=1)[0], "dim"))
        for text in _blocker_lines(report.blockers.get(job.id, [])):
            yield Text.assemble(f"{line}   ", text)


def _job_line(job: JobRecord, digits: int, width: int, now: datetime) -> Text:
    return Text.assemble(
        f"{MARKS.get(job.state, '○')} {job.id:>{digits}}  ",
        plain(job.kind.ljust(width)),
        "  ",
        state_text(job.state),
        f"  {when(job, now)}",
    )


def _blocker_lines(blockers: list[BlockerRecord]) -> Iterator[Text]:
    """First what is still waited for, since it is what the reader looks for."""
    open_ones = [each for each in blockers if each.closed_at is None]
    if open_ones:
        yield Text.assemble("waits for ", _chains(open_ones))
    done = [each for each in blockers if each.closed_at is not None]
    if done:
        yield Text.assemble("has waited for ", _chains(done))


def _chains(blockers: list[BlockerRecord]) -> Text:
    shown = [Text.assemble(f"{each.chain_id} ", state_text(each.state)) for each in blockers[:MOST_BLOCKERS]]
    rest = len(blockers) - MOST_BLOCKERS
    return Text(", ").join([*shown, *([Text(f"and {rest} more")] if rest > 0 else [])])


def _when(chain: ChainRecord, now: datetime) -> str:
    if chain.finished_at is not None:
        return f"ended {ago(chain.finished_at, now)}"
    return f"since {ago(chain.created_at, now)}" if chain.created_at is not None else ""


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
    before: Annotated[
        int | None, Parameter(help="Only ids below this one: the last id of the page before."), AN_ID
    ] = None,
    limit: Annotated[int, Parameter(help="Chains per page, up to 1000."), AN_INTEGER] = 50,
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
    after: Annotated[int, Parameter(help="Only jobs behind this place: the last of the page before."), AN_INTEGER] = -1,
    limit: Annotated[int, Parameter(help="Jobs per page, up to 1000."), AN_INTEGER] = 50,
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
        output: Any = await client.wait(chain_id, timeout=None if timeout is None else parse_duration(timeout))
    return ChainOutput(chain_id=chain_id, output=output)


class DeletedChains(msgspec.Struct, frozen=True, kw_only=True):
    """Which chains were removed."""

    chain_ids: list[int]


def view_deleted(report: DeletedChains, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    count = len(report.chain_ids)
    named = ", ".join(str(each) for each in report.chain_ids[:20]) + (", …" if count > 20 else "")
    return [plain(f"deleted {count} chain{'' if count == 1 else 's'}: {named}")]


@shown_as(one_of(view_chains))
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
    from leasehold.jobs.new_job import NewJob  # noqa: PLC0415

    follower = None if next is None else NewJob(kind=next, args=parse_object("args", args))
    async with context.client(context.settings.app) as client:
        await client.chains.complete(chain_id, _parse(output), continue_with=follower)
        return await client.chains.get(chain_id)


@shown_as(one_of(view_chains))
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
