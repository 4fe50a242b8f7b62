"""What is asked about chains."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from leasehold.asks.ask import Ask, Rows, first_ids, first_text
from leasehold.asks.ids import checked_before, checked_id
from leasehold.database.calls import from_row
from leasehold.drivers.adapter import AnsweredRow
from leasehold.errors import ChainCancelled, ChainFailed, UnknownJob, WaitTimeout
from leasehold.jobs.arguments import encode_args
from leasehold.jobs.catalogue import typed_output
from leasehold.jobs.encoding import Check, encode_continuation
from leasehold.jobs.endings import ContinueWith, seconds_of
from leasehold.jobs.kind import Kind
from leasehold.jobs.new_job import NewJob
from leasehold.records.jobs import ChainRecord, JobRecord


def get_chain(chain_id: int) -> Ask[ChainRecord]:
    """The chain. Raises BadInput, UnknownJob."""

    def read(rows: Rows) -> ChainRecord:
        if not rows:
            raise UnknownJob(f"there is no chain {chain_id}")
        return from_row(ChainRecord, rows[0])

    return Ask("get_chain", (checked_id(chain_id),), read)


def list_chains(
    state: str | None, kind: str | None, queue: str | None, before_id: int | None, page_size: int
) -> Ask[list[ChainRecord]]:
    """A page of chains."""
    return Ask("list_chains", (state, kind, queue, checked_before(before_id), page_size), _chains)


def list_chain_jobs(chain_id: int, after_position: int, page_size: int) -> Ask[list[JobRecord]]:
    """A page of the jobs of a chain; empty also where there is no such chain."""
    return Ask("list_chain_jobs", (checked_id(chain_id), after_position, page_size), _jobs)


def list_blocked_jobs(chain_id: int, after_id: int, page_size: int) -> Ask[list[JobRecord]]:
    """A page of the jobs that wait for a chain."""
    return Ask("list_blocked_jobs", (checked_id(chain_id), checked_id(after_id), page_size), _jobs)


def complete_chain(
    chain_id: int, output: Any, continue_with: NewJob[Any] | ContinueWith[Any] | None, check: Check
) -> Ask[list[int]]:
    """The ids of the new jobs. Raises BadInput, InvalidArgs, UnknownKind; UnknownJob, WrongState."""
    end = ContinueWith(continue_with) if isinstance(continue_with, NewJob) else continue_with
    continuation = None if end is None else encode_continuation(end, (), check)
    encoded = None if output is None else encode_args(output, "output").decode()
    return Ask("complete_chain", (checked_id(chain_id), encoded, continuation), first_ids)


def cancel_chain(chain_id: int, reason: str | None) -> Ask[str]:
    """The state that the open job was in."""
    return Ask("cancel_chain", (checked_id(chain_id), reason), first_text)


def delete_chain(chain_id: int, cascade: bool) -> Ask[list[int]]:
    """The ids of the chains that were deleted."""
    return Ask("delete_chain", (checked_id(chain_id), cascade), first_ids)


def watch_chain(chain_id: int, seconds: float | None) -> Ask[AnsweredRow | None]:
    """The row of the chain where it has ended, or is none. Else its end is notified for this time."""
    return Ask("watch_chains", ([checked_id(chain_id)], seconds), _only)


def wait_seconds(timeout: float | timedelta | None) -> float | None:
    """How long to wait; None: without end. Raises BadInput."""
    return None if timeout is None else seconds_of(timeout)


def ended_chain(chain_id: int, row: Any, seconds: float | None) -> ChainRecord:
    """The chain of a row of watch_chains; None is one that is open still. Raises WaitTimeout, UnknownJob."""
    if row is None:
        raise WaitTimeout(f"chain {chain_id} is still open after {seconds} s")
    if row["state"] is None:
        raise UnknownJob(f"there is no chain {chain_id}")
    return from_row(ChainRecord, row)


def output_of(chain: ChainRecord, kind: Kind[..., Any] | None) -> Any:
    """What a chain that has ended has brought. Raises ChainFailed, ChainCancelled; BadInput where it does not fit `kind`."""
    if chain.state != "completed":
        raise _ended_without_output(chain)
    return chain.output if kind is None else typed_output(kind, chain.output)


def _ended_without_output(chain: ChainRecord) -> ChainFailed | ChainCancelled:
    stored: object = chain.error
    error = cast("dict[str, Any]", stored) if isinstance(stored, dict) else {}
    said = f"{error.get('type', 'error')}: {error.get('message', '')}"
    where = f"job {chain.job_id} ({chain.job_kind})"
    if chain.state == "cancelled":
        return ChainCancelled(
            f"chain {chain.chain_id} was cancelled: {error.get('message', '')} at {where}", chain=chain
        )
    return ChainFailed(f"chain {chain.chain_id} failed at {where}: {said}", chain=chain)


def _only(rows: Rows) -> AnsweredRow | None:
    return rows[0] if rows else None


def _chains(rows: Rows) -> list[ChainRecord]:
    return [from_row(ChainRecord, row) for row in rows]


def _jobs(rows: Rows) -> list[JobRecord]:
    return [from_row(JobRecord, row) for row in rows]
