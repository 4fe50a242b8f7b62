"""What stands in the place of Django's own backends in Django's own tests (`tools/django_tests.py`)."""

# pyright: basic, reportGeneralTypeIssues=false, reportOptionalContextManager=false, reportOptionalSubscript=false
# pyright: reportOptionalIterable=false, reportAttributeAccessIssue=false, reportAssignmentType=false

from __future__ import annotations

import copy

import django

django.setup()

from django.test import SimpleTestCase as DjangosSimpleTestCase  # noqa: E402

from leasehold.django.backend import Backend  # noqa: E402
from leasehold.django.terms import Options, exceptions  # noqa: E402
from tests.leasehold.django.project.working import run_due  # noqa: E402


class SimpleTestCase(DjangosSimpleTestCase):
    """May use the database: our backends live in it."""

    databases = "__all__"


class Kept(Backend):
    """Ours; it knows what it has enqueued and nothing else, as the dummy backend does."""

    def __init__(self, alias, params):
        super().__init__(alias, params)
        self.results = []

    def enqueue(self, task, args, kwargs):
        result = super().enqueue(task, args, kwargs)
        self.results.append(copy.deepcopy(result))
        return result

    def get_result(self, result_id):
        if result_id not in {each.id for each in self.results}:
            raise exceptions.TaskResultDoesNotExist(result_id)
        return super().get_result(result_id)

    def clear(self):
        self.results.clear()


class Immediate(Backend):
    """Ours; a worker of ours has run the task, once, when `enqueue` returns."""

    chosen = Options(max_attempts=1)

    def enqueue(self, task, args, kwargs):
        result = super().enqueue(task, args, kwargs)
        run_due()
        result.refresh()
        return result
