"""Who takes part: its program, its packages, how to tell what it has left, and where its fastest settings are named."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

FOLDER = Path(__file__).parent
ENVIRONMENTS = FOLDER / "environments"


class Contestant(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table.

    Attributes:
        name: as the table shows it.
        program: a file of `programs/`, or a module of ours.
        runs_on: `ours`: this very environment; `pip` or `npm`: one of its own.
        packages: what that one contains.
        left: SQL that counts the jobs that are not finished.
        settings: what was chosen for speed, and who says so.
        share: how many of the others' jobs it drains; a slow one takes fewer, so that a round has an end.
    """

    name: str
    program: str
    runs_on: Literal["ours", "pip", "npm"]
    packages: tuple[str, ...] = ()
    left: str
    settings: str
    share: float = 1.0


OURS = "leasehold"
RAW = "raw asyncpg"

CONTESTANTS = (
    Contestant(
        name=OURS,
        program="ours",
        runs_on="ours",
        left="select count(*) from leasehold.jobs",
        settings="as users get it; docs/workers.md",
    ),
    Contestant(
        name=RAW,
        program="raw",
        runs_on="ours",
        left="select count(*) from raw_jobs",
        settings="the shortest statements; claims of 400",
    ),
    Contestant(
        name="PgQueuer",
        program="pgqueuer_program.py",
        runs_on="pip",
        packages=("pgqueuer[asyncpg]==1.6.0", "uvloop"),
        left="select count(*) from pgqueuer",
        settings="asyncpg and uvloop, batch_size=500 (its docs/guides/performance-tuning.md: larger batches)",
    ),
    Contestant(
        name="Procrastinate",
        program="procrastinate_program.py",
        runs_on="pip",
        packages=("procrastinate==3.10.0",),
        left="select count(*) from procrastinate_jobs where status in ('todo', 'doing')",
        settings="concurrency=30, delete_jobs=successful (its docs/howto/production/delete_finished_jobs.md)",
        share=0.2,
    ),
    Contestant(
        name="Chancy",
        program="chancy_program.py",
        runs_on="pip",
        packages=("chancy==0.26.0",),
        left="select count(*) from chancy_jobs where state in ('pending', 'running')",
        settings="asyncio executor, concurrency=100, eager_polling (its docs: Queue)",
        share=0.2,
    ),
    Contestant(
        name="Graphile Worker",
        program="graphile.mjs",
        runs_on="npm",
        packages=("graphile-worker@0.18.0", "pg"),
        left="select count(*) from graphile_worker._private_jobs",
        settings="localQueue.size=500, concurrentJobs=24, batch delays 0 (its website/docs/performance.md)",
    ),
    Contestant(
        name="pg-boss",
        program="pgboss.mjs",
        runs_on="npm",
        packages=("pg-boss@12.38.0",),
        left="select count(*) from pgboss.job where name = 'noop' and state < 'completed'",
        settings="batchSize=500, burstWhenBatchFull, notify on, polling each 0.5 s (its docs/api/workers.md)",
    ),
)
