"""The kinds of jobs of the report."""

from __future__ import annotations

import msgspec

from leasehold import App, ContinueWith, Job, NewJob

from .measures import Docs, add_up, list_files, measure

app = App()
QUEUE = "docs"


class Report(msgspec.Struct, frozen=True):
    """The output of the chain."""

    total: Docs
    packages: dict[str, Docs]


@app.kind(queue=QUEUE)
async def discover(job: Job, packages: list[str]) -> ContinueWith[Report]:
    """List the files and fan out. The statement that completes this job makes all jobs, on both levels."""
    return job.continue_with(report.new(packages), blockers=[plan_package(each) for each in packages])


def plan_package(package: str) -> NewJob[Docs]:
    """The summary of one package, blocked by a job for each of its files."""
    parts = [read_file.new(path) for path in list_files(package)]
    return summarize.new(package, len(parts)).but(blockers=parts)


@app.kind(queue=QUEUE, runs="process", timeout=30, memory_limit=512 * 1024 * 1024)
def read_file(path: str) -> Docs:
    """Parse one file. Pure Python holds the interpreter lock, so it runs in a process of its own."""
    return measure(path)


@app.kind(queue=QUEUE, priority=1)
async def summarize(job: Job, package: str, files: int) -> Docs:
    """The lower fan-in. A few additions are quick enough for the event loop."""
    return add_up(await job.blockers(Docs))


@app.kind(queue=QUEUE, priority=1)
async def report(job: Job, packages: list[str]) -> Report:
    """The upper fan-in. The outputs come in the order of the blockers."""
    parts = await job.blockers(Docs)
    return Report(add_up(parts), dict(zip(packages, parts, strict=True)))
