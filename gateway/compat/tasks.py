"""Tasks: jobs in the words of other systems' clients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, cast

import msgspec
from msgspec import Meta

from leasehold.gateway.http.fields import ById, Key, Name, Page
from leasehold.gateway.http.problems import refuse_field
from leasehold.gateway.nouns import capacity, jobs
from leasehold.gateway.nouns import jobs_enqueue as enqueueing
from leasehold.gateway.nouns.capacity import KeyParameters, RecentParameters
from leasehold.gateway.nouns.jobs import JobsParameters, JobView
from leasehold.gateway.nouns.jobs_enqueue import NO_ARGS, EnqueuedBody, JobBody, read_part
from leasehold.gateway.routing.routes import Call, NoParameters, Reply
from leasehold.records.jobs import HELD, QUEUED, JobRecord
from leasehold.records.queues import QueueCounts
from leasehold.validation import LARGEST_BIGINT

DEFAULT_RETRIES = 3
DEFAULT_PRIORITIES = {"entry_point_discovery": 10, "product_discovery": 10}
"""Of a role; all others have that of their kind, else 0. `sql/compat/worker_tasks.sql` has the same."""
OURS = ("kind", "queue", "key", "run_at", "delay", "max_attempts", "args")
THEIRS = ("role", "dispensary_id", "platform", "scheduled_for", "max_retries", "payload")
"""A task with a role has their fields, one with a kind ours: two names of one thing never meet."""

Status = Literal["pending", "claimed", "running", "completed", "failed", "stale"]
StoreId = Annotated[int, Meta(ge=-LARGEST_BIGINT, le=LARGEST_BIGINT)] | Key
Platform = Annotated[str, Meta(max_length=200, description="Stands as `platform` in the metadata.")]


def _only(name: str, *without: str) -> dict[str, Any]:
    absent = {each: False if each == "args" else {"type": "null"} for each in without}
    return {"required": [name], "properties": {**absent, name: {"type": "string"}}}


class TaskBody(JobBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A task to enqueue. `role` is queue and kind in one; a task with a role is retried three times unless it says otherwise.
    A task has their fields and a role, or ours and a kind; the others go with both."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "anyOf": [
            _only("role", *OURS, "platform"),
            _only("role", *OURS, "metadata"),
            _only("kind", *THEIRS, "delay"),
            _only("kind", *THEIRS, "run_at"),
        ]
    }

    kind: Name | None = None  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues]
    role: Annotated[Name, Meta(description="Queue and kind.")] | None = None
    dispensary_id: Annotated[StoreId, Meta(description="The key: one active task per store.")] | None = None
    platform: Platform | None = None
    scheduled_for: Annotated[datetime, Meta(tz=True, description="Not before this time.")] | None = None
    max_retries: Annotated[int, Meta(ge=0, le=999_999)] | None = None
    payload: Annotated[dict[str, Any], Meta(description="The args.")] | None = None


TaskBatch = Annotated[list[TaskBody], Meta(min_length=1, max_length=1000)]


class TasksParameters(JobsParameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which tasks: by their names or by ours."""

    role: Name | None = None
    status: Status | None = None
    dispensary_id: Key | None = None
    platform: Platform | None = None


THEIR_FIELDS: tuple[tuple[str, Any], ...] = (
    ("role", str),
    ("dispensary_id", int | str | None),
    ("platform", Any),
    ("status", Status),
    ("scheduled_for", datetime | None),
    ("completed_at", datetime | None),
    ("last_heartbeat_at", datetime | None),
    ("result", Any),
    ("error_message", str | None),
    ("retry_count", int),
    ("max_retries", int),
    ("updated_at", datetime),
)

TaskRecord = msgspec.defstruct(
    "TaskRecord",
    [*((field.name, field.type) for field in msgspec.structs.fields(JobRecord)), *THEIR_FIELDS],
    frozen=True,
    kw_only=True,
    module=__name__,
    namespace={"__doc__": "A job with the columns of `worker_tasks` beside its own."},
)
TaskView = msgspec.defstruct(
    "TaskView",
    [
        *(
            (field.name, field.type, *([field.default] if field.name != "id" else []))
            for field in msgspec.structs.fields(JobView)
        ),
        *(
            (name, given | msgspec.UnsetType if given is not Any else Any, msgspec.UNSET)
            for name, given in THEIR_FIELDS
        ),
    ],
    frozen=True,
    kw_only=True,
    module=__name__,
    namespace={"__doc__": "A job as `TaskRecord`, with the fields of ours that were asked for."},
)


class TaskCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many tasks there are in each state, in all roles, and `items` for each role."""

    pending: int
    claimed: int
    running: int
    completed: int
    failed: int
    stale: int
    items: list[QueueCounts]
    next: str | None = None


class ActiveTasks(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the store has a task that runs, which one, and what waits behind it."""

    active: bool
    task: TaskRecord | None  # pyright: ignore[reportInvalidTypeForm]
    items: list[TaskRecord]  # pyright: ignore[reportInvalidTypeForm]
    next: str | None = None


STATUS = {**dict.fromkeys(QUEUED, "pending"), "cancelled": "failed"}
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
    if task.platform is not None and task.metadata is not None:
        raise refuse_field(f"{path}.platform", "Give platform or metadata, not both")
    retries = DEFAULT_RETRIES if task.max_retries is None else task.max_retries
    return {
        "kind": task.role,
        "queue": task.role,
        "max_attempts": retries + 1,
        "priority": DEFAULT_PRIORITIES.get(task.role or "") if task.priority is None else task.priority,
        "key": None if task.dispensary_id is None else str(task.dispensary_id),
        "run_at": task.scheduled_for,
        "args": NO_ARGS if task.payload is None else msgspec.Raw(msgspec.json.encode(task.payload)),
        "metadata": task.metadata if task.platform is None else {"platform": task.platform},
    }


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


THEIR_FILTERS = (("role", "queue"), ("status", "state"), ("dispensary_id", "key"))


async def create_task(call: Call[NoParameters, TaskBody]) -> Reply:
    """Writes one task. Their fields (`role`, `dispensary_id`, `platform`, `scheduled_for`, `max_retries`, `payload`) stand beside
    ours; the answer is that of `POST /api/jobs`."""
    return await enqueueing.enqueue_job(msgspec.structs.replace(call, body=job_of(call.body)))  # pyright: ignore[reportArgumentType]


async def create_tasks(call: Call[NoParameters, list[TaskBody]]) -> Page[EnqueuedBody]:
    """Writes all tasks or none."""
    jobs = [job_of(task, f"$[{index}]") for index, task in enumerate(call.body)]
    return await enqueueing.enqueue_batch(msgspec.structs.replace(call, body=jobs))  # pyright: ignore[reportArgumentType]


async def show_task(call: Call[ById, None]) -> dict[str, Any]:
    """One task."""
    return task_of(await jobs.show_job(call))


async def list_tasks(call: Call[TasksParameters, None]) -> Page[dict[str, Any]]:
    """A page of tasks, newest first: those that fit all that is asked, in their words and in ours. `status=pending` means those
    that may begin now; tasks for later have the `state` scheduled."""
    wanted = _in_our_terms(call)
    if wanted is None:
        return Page([])
    found = await jobs.list_jobs(msgspec.structs.replace(call, parameters=wanted))  # pyright: ignore[reportArgumentType]
    if call.parameters.fields is not None:
        return found
    return Page([task_of(JobRecord(**each)) for each in found.items], found.next)


def _in_our_terms(call: Call[TasksParameters, None]) -> JobsParameters | None:
    """What is asked as of jobs; None if no job can be both."""
    asked = call.parameters
    given = {name: getattr(asked, name) for name in JobsParameters.__struct_fields__}
    for theirs, ours in THEIR_FILTERS:
        value = getattr(asked, theirs)
        if value is not None and given[ours] not in (None, value):
            return None
        given[ours] = given[ours] if value is None else value
    if asked.platform is not None:
        part = {} if asked.metadata is None else read_part(asked.metadata, call.services.limits, "query.metadata")
        if part.setdefault("platform", asked.platform) != asked.platform:
            return None
        given["metadata"] = msgspec.json.encode(part).decode()
    return JobsParameters(**given)


async def count_tasks(call: Call[NoParameters, None]) -> TaskCounts:
    """How many tasks there are by state, and for each role. A task is stale if its lease has run out: of those a hundred are
    counted at the most."""
    counts = await call.services.client.metrics.counts()
    totals = Counter[str]()
    for each in counts:
        totals[STATUS.get(each.state, each.state)] += each.jobs
    stale = await call.services.client.jobs.list(state="stale", page_size=100)
    return TaskCounts(
        pending=totals["pending"],
        claimed=totals["claimed"],
        running=totals["running"],
        completed=totals["completed"],
        failed=totals["failed"],
        stale=len(stale),
        items=counts,
    )


async def list_recent_tasks(call: Call[RecentParameters, None]) -> Page[dict[str, Any]]:
    """The tasks of a role that ended last, newest first."""
    found = await capacity.list_recent_jobs(call)
    return Page([task_of(job) for job in found.items], found.next)


async def show_active_tasks(call: Call[KeyParameters, None]) -> ActiveTasks:
    """Whether a store has an active task."""
    found = await capacity.list_key_jobs(call)
    tasks = [task_of(job) for job in found.items]
    active = [each for each in tasks if each["state"] in HELD]
    return ActiveTasks(active=bool(active), task=active[0] if active else None, items=tasks)
