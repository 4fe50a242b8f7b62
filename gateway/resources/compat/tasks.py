"""The handlers of `/api/tasks…`: those of `/api/jobs…`, with words turned."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from leasehold.gateway.http.pages import Page
from leasehold.gateway.resources.capacity import handlers as capacity_handlers
from leasehold.gateway.resources.capacity.bodies import KeyParameters, RecentParameters
from leasehold.gateway.resources.compat.task_bodies import ActiveTasks, TaskBody, TaskCounts, TasksParameters
from leasehold.gateway.resources.compat.translating import STATUS, job_of, task_of
from leasehold.gateway.resources.jobs import enqueueing, handlers
from leasehold.gateway.resources.jobs.bodies import JobParameters, JobsParameters
from leasehold.gateway.resources.jobs.enqueue_bodies import EnqueuedBody
from leasehold.gateway.resources.jobs.new_jobs import read_part
from leasehold.gateway.routing.routes import Call, NoParameters, Reply
from leasehold.records.jobs import JobRecord

THEIR_FILTERS = (("role", "queue"), ("status", "state"), ("dispensary_id", "key"))
HELD = ("claimed", "running")


async def create_task(call: Call[NoParameters, TaskBody]) -> Reply:
    """Writes one task. Their fields (`role`, `dispensary_id`, `platform`, `scheduled_for`, `max_retries`, `payload`) stand beside
    ours; the answer is that of `POST /api/jobs`."""
    return await enqueueing.enqueue_job(msgspec.structs.replace(call, body=job_of(call.body)))  # pyright: ignore[reportArgumentType]


async def create_tasks(call: Call[NoParameters, list[TaskBody]]) -> Page[EnqueuedBody]:
    """Writes all tasks or none."""
    jobs = [job_of(task, f"$[{index}]") for index, task in enumerate(call.body)]
    return await enqueueing.enqueue_batch(msgspec.structs.replace(call, body=jobs))  # pyright: ignore[reportArgumentType]


async def show_task(call: Call[JobParameters, None]) -> dict[str, Any]:
    """One task."""
    return task_of(await handlers.show_job(call))


async def list_tasks(call: Call[TasksParameters, None]) -> Page[dict[str, Any]]:
    """A page of tasks, newest first: those that fit all that is asked, in their words and in ours. `status=pending` means those
    that may begin now; tasks for later have the `state` scheduled."""
    wanted = _in_our_words(call)
    if wanted is None:
        return Page([])
    found = await handlers.list_jobs(msgspec.structs.replace(call, parameters=wanted))  # pyright: ignore[reportArgumentType]
    if call.parameters.fields is not None:
        return found
    return Page([task_of(JobRecord(**each)) for each in found.items], found.next)


def _in_our_words(call: Call[TasksParameters, None]) -> JobsParameters | None:
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
    found = await capacity_handlers.list_recent_jobs(call)
    return Page([task_of(job) for job in found.items], found.next)


async def show_active_tasks(call: Call[KeyParameters, None]) -> ActiveTasks:
    """Whether a store has an active task."""
    found = await capacity_handlers.list_key_jobs(call)
    tasks = [task_of(job) for job in found.items]
    active = [each for each in tasks if each["state"] in HELD]
    return ActiveTasks(active=bool(active), task=active[0] if active else None, items=tasks)
