"""What runs tasks: where their database is, one attempt of a task, and the app that `manage.py leasehold` gives to us.

Only processes of `manage.py leasehold` load it.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from inspect import iscoroutinefunction
from typing import Any
from urllib.parse import quote, urlencode

import django
import trio
from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.apps import apps
from django.db import close_old_connections, connections, reset_queries
from django.utils import timezone
from django.utils.module_loading import autodiscover_modules, import_string

from leasehold.actors.attempts.outcome import CONTROLS, describe
from leasehold.app import App, FreeKind
from leasehold.django.backend import Backend
from leasehold.django.project import backend_to_serve, our_backends
from leasehold.django.terms import (
    DECLARED,
    PACKAGE,
    LeaseholdContext,
    Status,
    arguments,
    find_task,
    in_django_zone,
    make_result,
    options_of,
    part,
    signals,
    task_error,
    type_name,
)
from leasehold.errors import HandlerFailed, attach_report
from leasehold.jobs.endings import ContinueWith, Discard
from leasehold.jobs.job import Job
from leasehold.jobs.kind import CheckedKindOptions

PASSED_ON = ("sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", "sslpassword", "passfile", "target_session_attrs")
"""OPTIONS of a database that mean the same there. All others are for psycopg."""

normalize_json: Any = (part(".utils") if PACKAGE == "django_tasks" else sys.modules["django.utils.json"]).normalize_json
PASS = (*CONTROLS, trio.Cancelled)
"""What a task raises to end its attempt in a way of leasehold's, and what ends a job that was cancelled."""

BACKEND_VARIABLE = "DJANGO_LEASEHOLD_BACKEND"
"""Which backend of TASKS the processes of `manage.py leasehold --backend …` serve."""


def make_app(backend: Backend) -> App:
    """The tasks of this backend and of the others of its database, and the kinds and schedules of OPTIONS' `app`.

    A task in a module that nobody has named is found by its path when its job comes, so the app serves all kinds of its queues.
    """
    options = backend.chosen
    autodiscover_modules("tasks")
    for module in options.modules:
        import_module(module)
    made = App(runs="thread")
    if options.app is not None:
        own: Any = import_string(options.app.replace(":", "."))
        made.merge(own)
    served = {each.alias for each in our_backends() if each.chosen.database == options.database}
    for path, task in DECLARED.items():
        if task.backend in served and path not in made:
            made.add(task_kind(path, getattr(task, "retry", None) or options.retry))
    made.default = task_kind("*", options.retry)
    return made


def task_kind(path: str, retry: Any) -> FreeKind:
    """The kind of a task; `*` for those that are found when they come."""
    return FreeKind(path, run_task, "thread", CheckedKindOptions(retry=retry))


def __getattr__(name: str) -> Any:
    """`app`, made when the command line asks for it, which may be in a process that Django has not set up."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not apps.ready:
        django.setup()
    return globals().setdefault("app", make_app(backend_to_serve(os.environ.get(BACKEND_VARIABLE))))


def run_task(job: Job, args: dict[str, Any]) -> Any:
    """Run a task as the handler of its job. The connections of this thread are closed before and after, as for a request."""
    reset_queries()
    close_old_connections()
    try:
        return TaskAttempt(job, find_task(job.kind), args).run()
    finally:
        close_old_connections()


class TaskAttempt:
    """An attempt of a task.

    Args:
        job: that the task is.
        task: as it is declared.
        args: as they are stored.
    """

    def __init__(self, job: Job, task: Any, args: Mapping[str, Any]) -> None:
        self._job = job
        self._task = task
        self._result = self._running_result(args)

    def run(self) -> Any:
        """Call the function and return what JSON has of its value. Raises what it raises, told by its full name."""
        result, task = self._result, self._task
        signals.task_started.send_robust(sender=Backend, task_result=result)
        context = (LeaseholdContext(task_result=result, job=self._job),) if task.takes_context else ()
        try:
            value = self._call(*context, *result.args)
        except Discard as error:
            self._failed(error, is_last=True)
            raise
        except PASS:
            raise
        except BaseException as error:
            self._failed(error, is_last=self._job.attempt >= self._job.max_attempts)
            attach_report(error, self._description(error))
            if isinstance(error, Exception):
                raise
            raise self._in_place_of(error) from error
        if isinstance(value, ContinueWith):
            self._finish(Status.SUCCESSFUL, None)
            return value
        output = self._json_of(value)
        self._finish(Status.SUCCESSFUL, output)
        return output

    def _call(self, *args: Any) -> Any:
        function, named = self._task.func, self._result.kwargs
        return awaited(function, *args, **named) if iscoroutinefunction(function) else function(*args, **named)

    def _json_of(self, value: Any) -> Any:
        """Raises Discard where JSON does not have it: another attempt would do all of it again, for nothing."""
        try:
            return normalize_json(value)
        except (TypeError, ValueError) as error:
            self._failed(error, is_last=True)
            raise attach_report(Discard(str(error)), self._description(error)) from error

    def _failed(self, error: BaseException, *, is_last: bool) -> None:
        """Note the error; tell that the task has finished, unless it is tried again."""
        self._result.errors.append(task_error(self._description(error)))
        if is_last:
            self._finish(Status.FAILED, None)

    def _finish(self, status: Any, output: Any) -> None:
        result = self._result
        object.__setattr__(result, "finished_at", timezone.now())
        object.__setattr__(result, "_return_value", output)
        object.__setattr__(result, "status", status)
        signals.task_finished.send_robust(sender=Backend, task_result=result)

    def _in_place_of(self, error: BaseException) -> HandlerFailed:
        """What is no Exception, such as SystemExit, fails the attempt and not the worker."""
        return attach_report(HandlerFailed(f"{type(error).__qualname__}: {error}"), self._description(error))

    def _description(self, error: BaseException) -> dict[str, Any]:
        return describe(error) | {"type": type_name(error)}

    def _running_result(self, args: Mapping[str, Any]) -> Any:
        job, now = self._job, timezone.now()
        positional, named = arguments(args)
        alias, _ = options_of(job.metadata)
        return make_result(
            self._task, str(job.id), Status.RUNNING, positional, named, alias,
            enqueued_at=in_django_zone(job.created_at),
            started_at=now,
            last_attempted_at=now,
            worker_ids=[""] * (job.attempt - 1) + [job.worker_id],
        )  # fmt: skip


def awaited(function: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
    """What the coroutine returns, run on an event loop of its own in this thread.

    What the coroutine does with the ORM happens in one thread of its own, whose connections are closed in the end.
    """
    return asyncio.run(_within_one_thread(function, *args, **kwargs))


async def _within_one_thread(function: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
    async with ThreadSensitiveContext():
        try:
            return await function(*args, **kwargs)
        finally:
            await sync_to_async(connections.close_all)()


def address(database: Mapping[str, Any]) -> str:
    """A Postgres URL from the settings of one of DATABASES. What is not said there, PG… variables and defaults say."""
    options: Mapping[str, Any] = database.get("OPTIONS") or {}
    asked = {name: str(options[name]) for name in PASSED_ON if options.get(name)}
    host, port = str(database.get("HOST") or ""), str(database.get("PORT") or "")
    if host.startswith("/"):  # the folder of a socket is no host of a URL
        asked |= {"host": host} | ({"port": port} if port else {})
        host = port = ""
    who = quote(str(database.get("USER") or ""), safe="")
    if database.get("PASSWORD"):
        who += f":{quote(str(database['PASSWORD']), safe='')}"
    where = f"[{host}]" if ":" in host else host
    place = f"{who}@{where}" if who else where
    place += f":{port}" if port else ""
    query = f"?{urlencode(asked)}" if asked else ""
    return f"postgresql://{place}/{quote(str(database.get('NAME') or ''), safe='')}{query}"
