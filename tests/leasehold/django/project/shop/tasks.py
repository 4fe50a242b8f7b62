"""Tasks of the shop."""

# pyright: basic, reportGeneralTypeIssues=false, reportOptionalContextManager=false, reportOptionalSubscript=false
# pyright: reportOptionalIterable=false, reportAttributeAccessIssue=false, reportAssignmentType=false

from __future__ import annotations

from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group
from django.core.exceptions import ObjectDoesNotExist
from django.db import connection, transaction

from leasehold.django.terms import tasks
from leasehold.jobs.endings import Discard
from leasehold.jobs.new_job import Unique

task = tasks.task


@task
def noop(*args, **kwargs):
    return None


@task
async def noop_async(*args, **kwargs):
    return None


@task
def add(a, b=1):
    return a + b


@task(max_attempts=2)
def fails():
    raise ValueError("this task fails")


@task(max_attempts=1)
def exits():
    raise SystemExit("this task exits")


@task(max_attempts=1)
def raises_of_a_library():
    raise ObjectDoesNotExist("no group")


@task
def gives_up():
    raise Discard("for good")


@task
def no_json():
    return lambda: True


@task(takes_context=True)
def task_id(context):
    return context.task_result.id


@task(takes_context=True, max_attempts=3)
def second_time(context):
    assert isinstance(context, tasks.TaskContext)
    if context.attempt == 1:
        raise RuntimeError("not yet")
    return [context.attempt, len(context.task_result.worker_ids), context.job.kind]


@task(unique=Unique(by=["kind", "args.order"]), timeout=60, deadline=3600, priority=7)
def ship(order):
    return order


@task
def make_group(name):
    with transaction.atomic():
        return Group.objects.create(name=name).pk


@task
async def count_groups():
    return await Group.objects.acount() + await sync_to_async(lambda: 0)()


@task
def backend_pid():
    with connection.cursor() as cursor:
        cursor.execute("select pg_backend_pid()")
        return cursor.fetchone()[0]


@task(max_attempts=2)
def leaves_a_broken_connection():
    transaction.set_autocommit(False)
    with connection.cursor() as cursor:
        cursor.execute("select 1 / 0")
