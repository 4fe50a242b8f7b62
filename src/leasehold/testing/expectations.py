"""Which jobs a test expects, and what to tell it where there are others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from leasehold.records.jobs import JobRecord

MOST_SHOWN = 10


def found_jobs(
    jobs: Sequence[JobRecord],
    kind: str,
    args: Mapping[str, Any] | None,
    times: int | None,
    values: Mapping[str, Any],
) -> list[JobRecord]:
    """The jobs that fit. Raises AssertionError where there is none, or not the number that is wanted."""
    fit = [job for job in jobs if job.kind == kind and not _differences(job, args, values)]
    if len(fit) == times or (times is None and fit):
        return fit
    raise AssertionError(_complaint(jobs, fit, kind, args, times, values))


def _differences(job: JobRecord, args: Mapping[str, Any] | None, values: Mapping[str, Any]) -> list[str]:
    """How a job differs from what is expected: `args.address: expected 'ada', found 'bob'`."""
    found = cast("Mapping[str, Any]", job.args or {})
    pairs = [(f"args.{name}", value, found.get(name, "nothing")) for name, value in (args or {}).items()]
    pairs += [(name, value, getattr(job, name)) for name, value in values.items()]
    return [f"{name}: expected {wanted!r}, found {is_!r}" for name, wanted, is_ in pairs if wanted != is_]


def _complaint(
    jobs: Sequence[JobRecord],
    fit: Sequence[JobRecord],
    kind: str,
    args: Mapping[str, Any] | None,
    times: int | None,
    values: Mapping[str, Any],
) -> str:
    wanted = "a job" if times is None else f"{times} job(s)"
    asked = "".join(
        f" {name}={value!r}" for name, value in {**({"args": dict(args)} if args else {}), **values}.items()
    )
    lines = [f"expected {wanted} of kind {kind}{asked}; there are {len(fit)}"]
    same = [job for job in jobs if job.kind == kind]
    for job in same[:MOST_SHOWN]:
        lines.append(f"  job {job.id} {job.state} {job.args}")
        lines += [f"    {each}" for each in _differences(job, args, values)]
    if not same:
        kinds = sorted({job.kind for job in jobs})
        lines.append(f"  kinds that were enqueued: {', '.join(kinds) or 'none'}")
    return "\n".join(lines)
