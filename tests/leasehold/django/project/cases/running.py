"""Tasks that a worker of ours has run, and what their results say."""

# pyright: basic, reportGeneralTypeIssues=false, reportOptionalContextManager=false, reportOptionalSubscript=false
# pyright: reportOptionalIterable=false, reportAttributeAccessIssue=false, reportAssignmentType=false

from __future__ import annotations

import asyncio
import os
from tempfile import TemporaryDirectory
from unittest.mock import patch

import psycopg
from django.contrib.auth.models import Group
from django.core.exceptions import ObjectDoesNotExist
from django.test import SimpleTestCase
from django.utils import timezone

from leasehold import open_client
from leasehold.django.backend import Backend
from leasehold.django.terms import Status, signals
from leasehold.django.terms import tasks as interface
from leasehold.jobs.new_job import NewJob
from leasehold.payloads.claim_checks import ClaimCheck, write_check
from leasehold.sync import Client
from tests.leasehold.django.project.place import dsn
from tests.leasehold.django.project.shop import tasks
from tests.leasehold.django.project.working import run_due


class Running(SimpleTestCase):
    databases = "__all__"

    def ran(self, task, *args, **kwargs):
        result = task.enqueue(*args, **kwargs)
        run_due()
        result.refresh()
        return result

    def test_a_task_that_has_run_is_successful_and_has_its_times(self):
        for task in (tasks.noop, tasks.noop_async):
            with self.subTest(task):
                result = self.ran(task, 1, two=3)
                self.assertEqual(result.status, Status.SUCCESSFUL)
                self.assertIs(result.is_finished, True)
                self.assertIsNone(result.return_value)
                self.assertEqual((result.args, result.kwargs, result.attempts), ([1], {"two": 3}, 1))
                self.assertEqual(result.started_at, result.last_attempted_at)
                self.assertTrue(result.enqueued_at <= result.started_at <= result.finished_at)
                self.assertEqual(timezone.is_aware(result.finished_at), timezone.is_aware(timezone.now()))
                self.assertEqual((result.worker_ids, result.errors), (["testing"], []))

    def test_it_returns_a_value(self):
        self.assertEqual(self.ran(tasks.add, 40, b=2).return_value, 42)
        self.assertEqual(self.ran(tasks.add, "a", "b").return_value, "ab")

    def test_a_large_output_is_read_in_the_payload_store_that_the_settings_name(self):
        async def put_away(folder, value):
            async with open_client(dsn(), payloads=folder) as client:
                return await client.payloads.save(value, kind="output")

        result = self.ran(tasks.add, "a", "b")
        with TemporaryDirectory() as folder, psycopg.connect(dsn(), autocommit=True) as connection:
            saved = asyncio.run(put_away(folder, ["ab"] * 10))
            check = write_check(ClaimCheck(saved.id, saved.size, saved.sha256, "list of 10")).decode()
            connection.execute("update leasehold.finished_jobs set output = %s where id = %s", (check, int(result.id)))
            self.assertIn("$payload", result.task.get_result(result.id).return_value)
            with patch.dict(os.environ, {"LEASEHOLD_PAYLOADS_STORE": folder}):
                self.assertEqual(result.task.get_result(result.id).return_value, ["ab"] * 10)

    def test_a_task_that_fails_is_tried_again_and_tells_each_error(self):
        result = tasks.fails.enqueue()
        run_due(most=1)
        result.refresh()
        self.assertEqual((result.status, result.attempts, len(result.errors)), (Status.READY, 1, 1))
        run_due()
        result.refresh()
        self.assertEqual((result.status, result.attempts, len(result.errors)), (Status.FAILED, 2, 2))
        self.assertTrue(result.started_at < result.last_attempted_at < result.finished_at)
        with self.assertRaisesMessage(ValueError, "Task failed"):
            _ = result.return_value
        for error in result.errors:
            self.assertIs(error.exception_class, ValueError)
            self.assertTrue(error.traceback.endswith("ValueError: this task fails\n"), error.traceback)

    def test_what_a_library_raises_is_found_by_its_module(self):
        [error] = self.ran(tasks.raises_of_a_library).errors
        self.assertIs(error.exception_class, ObjectDoesNotExist)

    def test_an_exit_fails_the_task_and_leaves_the_worker(self):
        [error] = self.ran(tasks.exits).errors
        self.assertIs(error.exception_class, SystemExit)
        self.assertTrue(error.traceback.endswith("SystemExit: this task exits\n"))

    def test_what_gives_up_or_returns_no_json_is_not_tried_again(self):
        for task in (tasks.gives_up, tasks.no_json):
            with self.subTest(task):
                result = self.ran(task)
                self.assertEqual((result.status, result.attempts), (Status.FAILED, 1))
        self.assertIs(result.errors[0].exception_class, TypeError)
        self.assertIn("Unsupported type", result.errors[0].traceback)

    def test_a_cancelled_task_has_failed(self):
        result = tasks.noop.enqueue()
        with Client(dsn()) as client:
            client.cancel(int(result.id), "not any more")
        result.refresh()
        self.assertEqual(result.status, Status.FAILED)
        self.assertIn("not any more", result.errors[0].traceback)
        self.assertTrue(issubclass(result.errors[0].exception_class, Exception))

    def test_the_context_has_the_id_the_attempt_and_the_job(self):
        result = self.ran(tasks.task_id)
        self.assertEqual(result.return_value, result.id)
        result = self.ran(tasks.second_time)
        self.assertEqual(result.return_value, [2, 2, tasks.second_time.module_path])

    def test_the_task_uses_the_orm_awaited_or_not(self):
        made = self.ran(tasks.make_group, "editors")
        self.assertEqual(Group.objects.get(name="editors").pk, made.return_value)
        self.assertEqual(self.ran(tasks.count_groups).return_value, Group.objects.count())

    def test_connections_are_closed_after_each_attempt_whatever_it_did(self):
        pid = self.ran(tasks.backend_pid).return_value
        broken = self.ran(tasks.leaves_a_broken_connection)
        self.assertEqual((broken.status, broken.attempts), (Status.FAILED, 2))
        with psycopg.connect(dsn()) as eye:
            left = eye.execute(
                "select count(*) from pg_stat_activity where pid = %s or state like 'idle in transaction%%'", [pid]
            ).fetchone()
        self.assertEqual(left, (0,))

    def test_signals_and_log_lines_tell_of_the_start_and_of_the_end(self):
        heard = []

        def hear(sender, task_result, signal, **_):
            heard.append((sender, task_result.id, str(task_result.status)))

        signals.task_started.connect(hear)
        signals.task_finished.connect(hear)
        with self.assertLogs(interface.__name__, level="DEBUG") as lines:
            result, failed = self.ran(tasks.noop), self.ran(tasks.fails)
        self.assertEqual(
            heard,
            [
                (Backend, result.id, "RUNNING"),
                (Backend, result.id, "SUCCESSFUL"),
                (Backend, failed.id, "RUNNING"),
                (Backend, failed.id, "RUNNING"),
                (Backend, failed.id, "FAILED"),
            ],
        )
        told = [line.partition("state=")[2] for line in lines.output if "state=" in line]
        self.assertEqual(
            [line.partition("\n")[0] for line in told], ["RUNNING", "SUCCESSFUL", "RUNNING", "RUNNING", "FAILED"]
        )
        self.assertNotIn("None", lines.output[0])

    def test_a_listener_that_breaks_does_not_break_the_task(self):
        def breaks(**_):
            raise RuntimeError("a listener")

        signals.task_finished.connect(breaks)
        try:
            with self.assertLogs("django.dispatch", level="ERROR"):
                self.assertEqual(self.ran(tasks.add, 1).return_value, 2)
        finally:
            signals.task_finished.disconnect(breaks)

    def test_a_task_that_nobody_knows_any_more_fails_and_says_so(self):
        with Client(dsn()) as client:
            made = client.enqueue(NewJob[None](kind="tests.leasehold.django.project.shop.tasks.gone", max_attempts=1))
            run_due()
            job = client.get(made)
        self.assertEqual((job.state, job.error["type"]), ("failed", "ImportError"))

    def test_kinds_of_the_app_in_options_run_beside_the_tasks(self):
        with Client(dsn()) as client:
            made = client.enqueue("own_kind", {"name": "Ada"})
            run_due()
            self.assertEqual(client.get(made).output, "hello Ada")
