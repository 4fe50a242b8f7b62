"""Chains as people read them: a table of many, and one drawn job after job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.commands.jobs.view import error_message, when
from leasehold.cli.views.text import ago, json_text, plain, state_text, table
from leasehold.records.chains import BlockerRecord, ChainRecord
from leasehold.records.jobs import JobRecord

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


def view_one_chain(chain: ChainRecord, now: datetime) -> Sequence[RenderableType]:
    """One line."""
    return view_chains([chain], now)


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
