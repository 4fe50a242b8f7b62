"""Tests of a Django project: their database gets our schema with Django's tables, and a kit runs what they enqueue.

Only tests load it.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from django.db import connections

from leasehold.django.project import backend_to_serve, check_schema
from leasehold.django.worker import address, make_app
from leasehold.errors import BadInput
from leasehold.testing.databases import TestDatabases, fill, run_apart
from leasehold.testing.kit import Kit


def make_schema(alias: str) -> None:
    """Make or update our schema in this database if a backend of ours has its jobs there and it lacks it."""
    if check_schema([alias]):
        run_apart(fill, address(connections[alias].settings_dict))


def kit(backend: str | None = None) -> Kit:
    """A kit on the database of a TransactionTestCase, with the tasks of a backend: `kit().drain()` runs all that are due.

    Tasks run in other threads, on connections of their own. What a test has enqueued, and how far it has moved the clock,
    stays for the tests after it: Django empties its own tables only.

    Args:
        backend: its alias in TASKS; the first of ours if not given.

    Raises:
        BadInput: the test has an open transaction, as each TestCase has.
        ImproperlyConfigured: the backend is none of ours.
    """
    served = backend_to_serve(backend)
    connection = connections[served.chosen.database]
    if connection.in_atomic_block:
        raise BadInput(
            "a kit sees only what has been committed, and this test has an open transaction: make it a TransactionTestCase, "
            "or call the function of the task: task.func(…)"
        )
    beside = address({**connection.settings_dict, "NAME": "postgres"})  # from where Django makes it, too
    return Kit(TestDatabases(beside), address(connection.settings_dict), make_app(served))
