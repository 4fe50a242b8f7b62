"""The app of a Django project: all its tasks, as kinds. `manage.py leasehold` gives it to the command line."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import django
from django.apps import apps
from django.utils.module_loading import autodiscover_modules, import_string

from leasehold.app import App, FreeKind
from leasehold.django.backend import Backend
from leasehold.django.project.backends import backend_to_serve, our_backends
from leasehold.django.terms.task import DECLARED
from leasehold.django.worker.running import run_task
from leasehold.jobs.kind import CheckedKindOptions

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
