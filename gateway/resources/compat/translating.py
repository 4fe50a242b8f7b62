"""Tasks into jobs and back: pure."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from leasehold.gateway.http.problems import refuse_field
from leasehold.gateway.resources.compat.task_bodies import DEFAULT_RETRIES, OURS, THEIRS, TaskBody
from leasehold.gateway.resources.jobs.enqueue_bodies import NO_ARGS, JobBody
from leasehold.records.jobs import JobRecord

WAITING = ("pending", "scheduled", "waiting", "blocked")
STATUS = {**dict.fromkeys(WAITING, "pending"), "cancelled": "failed"}
"""Which of their states is meant by ours, where it has another name."""


def job_of(task: TaskBody, path: str = "$") -> JobBody:
    """The job that a task asks for. Raises Refusal for their words and ours in one task, or neither kind nor role."""
    is_theirs = task.role is not None
    for name in OURS if is_theirs else THEIRS:
        if _is_given(task, name):
            there = "role" if is_theirs else "kind"
            raise refuse_field(
                f"{path}.{name}", f"It does not go with {there}: give a role and their fields, or a kind and ours"
            )
    if task.role is None and task.kind is None:
        raise refuse_field(f"{path}.role", "A task has a role, or a kind")
    fields: dict[str, Any] = {name: getattr(task, name) for name in JobBody.__struct_fields__}
    return JobBody(**{**fields, **(_translated(task, path) if is_theirs else {})})


def _translated(task: TaskBody, path: str) -> dict[str, Any]:
    retries = DEFAULT_RETRIES if task.max_retries is None else task.max_retries
    return {
        "kind": task.role,
        "queue": task.role,
        "max_attempts": retries + 1,
        "key": None if task.dispensary_id is None else str(task.dispensary_id),
        "run_at": task.scheduled_for,
        "args": NO_ARGS if task.payload is None else msgspec.Raw(msgspec.json.encode(task.payload)),
        "metadata": task.metadata if task.platform is None else with_platform(task.metadata, task.platform, path),
    }


def with_platform(metadata: dict[str, Any] | None, platform: str, path: str) -> dict[str, Any]:
    """The metadata of a task with a platform. Raises Refusal for metadata besides."""
    if metadata is not None:
        raise refuse_field(f"{path}.platform", "Give platform or metadata, not both")
    return {"platform": platform}


def task_of(job: JobRecord) -> dict[str, Any]:
    """The job with their names beside ours. A retry is an attempt after the first that counts."""
    return {
        **{name: getattr(job, name) for name in JobRecord.__struct_fields__},
        "role": job.queue,
        "dispensary_id": store_of(job.key),
        "platform": job.metadata.get("platform") if isinstance(job.metadata, dict) else None,  # pyright: ignore[reportUnknownMemberType]
        "status": STATUS.get(job.state, job.state),
        "scheduled_for": job.run_at,
        "completed_at": job.finished_at,
        "last_heartbeat_at": job.heartbeat_at,
        "result": job.output,
        "error_message": message_of(job.error),
        "retry_count": max(0, job.attempt - job.spared_attempts - 1),
        "max_retries": max(0, job.max_attempts - 1),
        "updated_at": max(
            filter(None, (job.created_at, job.claimed_at, job.started_at, job.heartbeat_at, job.finished_at))
        ),
    }


def store_of(key: str | None) -> int | str | None:
    """The key as the id of a store: a number where it is one."""
    is_number = key is not None and key.isascii() and key.removeprefix("-").isdigit() and str(int(key[:20])) == key
    return int(key) if is_number and key is not None else key


def message_of(error: Any) -> str | None:
    """The message of an error; None where there is none."""
    known = cast("dict[str, object]", error) if isinstance(error, dict) else {}
    return str(known["message"]) if "message" in known else None


def _is_given(task: TaskBody, name: str) -> bool:
    value = getattr(task, name)
    return value is not None and value is not NO_ARGS
