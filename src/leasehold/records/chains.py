"""Chains and blockers, as the reading functions answer with them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec


class ChainRecord(msgspec.Struct, frozen=True, kw_only=True):
    """How a chain stands.

    Attributes:
        chain_id: id of its first job.
        state: `open`, or that of its last job: `completed`, `failed`, `cancelled`.
        kind, queue, created_at: of its first job; None once retention has forgotten that.
        job_id, job_kind, job_state: of its last job.
        jobs: how many it has had so far.
        output: of a completed chain.
        error: of a failed or cancelled chain; of an open one that of the last failed attempt.
        finished_at: when it ended.
        open_blockers: how many chains its last job waits for.
    """

    chain_id: int
    state: str
    kind: str | None
    queue: str | None
    job_id: int
    job_kind: str
    job_state: str
    jobs: int
    output: Any
    error: Any
    created_at: datetime | None
    finished_at: datetime | None
    open_blockers: int


class BlockerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A chain that a job waits or waited for.

    Attributes:
        slot: its place, from 1.
        chain_id: of the chain.
        state: `completed`, or how the chain that is still waited for stands: `open`, `failed`, `cancelled`, `deleted`.
        closed_at: when it completed, or None.
        output: what it completed with.
    """

    slot: int
    chain_id: int
    state: str
    closed_at: datetime | None
    output: Any


class ChainNode(msgspec.Struct, frozen=True, kw_only=True):
    """A chain among those that it has to do with: as `ChainRecord`. `waits_for`: chains of the same graph that its jobs wait or
    waited for."""

    chain_id: int
    kind: str | None
    state: str
    job_id: int
    job_kind: str
    job_state: str
    jobs: int
    created_at: datetime | None
    finished_at: datetime | None
    waits_for: list[int]


class ChainGraph(msgspec.Struct, frozen=True, kw_only=True):
    """A chain, the first of the nodes, with all that waits for it and all that those wait for. `is_partial`: there are more."""

    nodes: list[ChainNode]
    is_partial: bool
