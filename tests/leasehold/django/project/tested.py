"""What the tests of a project do: `manage.py test` makes their database, and a kit runs what they enqueue."""

# pyright: basic, reportGeneralTypeIssues=false, reportOptionalContextManager=false, reportOptionalSubscript=false
# pyright: reportOptionalIterable=false, reportAttributeAccessIssue=false, reportAssignmentType=false

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import Group
from django.test import TestCase, TransactionTestCase
from django.utils import timezone

from leasehold.django.terms import Status
from leasehold.django.testing import kit
from leasehold.errors import BadInput
from tests.leasehold.django.project.shop import tasks


class Committing(TransactionTestCase):
    def test_a_kit_runs_what_is_due_in_the_database_of_the_test(self):
        Group.objects.create(name="of the test")
        result, later = tasks.count_groups.enqueue(), tasks.fails.enqueue()
        kit().drain()
        result.refresh()
        later.refresh()
        assert (result.status, result.return_value) == (Status.SUCCESSFUL, 1)
        assert (later.status, later.attempts) == (Status.FAILED, 2)

    def test_time_can_be_moved(self):
        result = tasks.add.using(run_after=timezone.now() + timedelta(days=2)).enqueue(40, b=2)
        moved = kit()
        moved.drain()
        result.refresh()
        assert result.status == Status.READY
        moved.travel(days=3)
        moved.drain()
        result.refresh()
        assert result.return_value == 42


class RolledBack(TestCase):
    def test_a_task_is_enqueued_and_no_worker_sees_it(self):
        result = tasks.add.enqueue(40, b=2)
        assert result.task.get_result(result.id).status == Status.READY
        with self.assertRaisesMessage(BadInput, "TransactionTestCase"):
            kit()
