"""Enqueueing and results, as the tests of Django's own backends ask for them."""

# pyright: basic, reportGeneralTypeIssues=false, reportOptionalContextManager=false, reportOptionalSubscript=false
# pyright: reportOptionalIterable=false, reportAttributeAccessIssue=false, reportAssignmentType=false

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timedelta
from unittest import mock

import psycopg
from django.db import connection, transaction
from django.test import SimpleTestCase, override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leasehold.django.backend import Backend
from leasehold.django.terms import InvalidTask, Status, exceptions, signals
from leasehold.django.terms import tasks as interface
from leasehold.errors import InvalidArgs, UniqueConflict
from leasehold.jobs.new_job import Unique
from tests.leasehold.django.project.place import dsn
from tests.leasehold.django.project.shop import tasks
from tests.support.waiting import PATIENCE

default: Backend = interface.default_task_backend


class Undone(Exception):
    pass


class Enqueueing(SimpleTestCase):
    databases = "__all__"

    def test_the_settings_name_our_backend_and_it_can_do_all(self):
        self.assertIsInstance(interface.task_backends["default"], Backend)
        self.assertEqual(default.alias, "default")
        can = ("supports_defer", "supports_async_task", "supports_get_result", "supports_priority")
        self.assertTrue(all(getattr(default, each) for each in can))
        self.assertEqual([*default.check()], [])

    def test_a_task_is_ready_when_it_has_been_enqueued(self):
        for task in (tasks.noop, tasks.noop_async):
            with self.subTest(task):
                result = task.enqueue(1, two=3)
                self.assertEqual(result.status, Status.READY)
                self.assertIs(result.is_finished, False)
                self.assertIsNotNone(result.enqueued_at)
                self.assertIsNone(result.started_at)
                self.assertIsNone(result.last_attempted_at)
                self.assertIsNone(result.finished_at)
                with self.assertRaisesMessage(ValueError, "Task has not finished yet"):
                    _ = result.return_value
                self.assertEqual((result.task, result.args, result.kwargs), (task, [1], {"two": 3}))
                self.assertEqual((result.attempts, result.errors), (0, []))

    async def test_the_same_awaited(self):
        result = await tasks.noop.aenqueue(1, two=3)
        self.assertEqual(await default.aget_result(result.id), result)
        self.assertEqual(await tasks.noop.aget_result(result.id), result)
        await result.arefresh()
        self.assertEqual((result.status, result.args, result.kwargs), (Status.READY, [1], {"two": 3}))
        subprocess.run([sys.executable, "-m", "tests.leasehold.django.project.working"], check=True, timeout=PATIENCE)  # noqa: ASYNC221
        await result.arefresh()
        self.assertEqual((result.status, result.return_value), (Status.SUCCESSFUL, None))

    def test_a_result_is_found_again_as_it_was_given(self):
        later = timezone.now() + timedelta(hours=1)
        for task in (
            tasks.add,
            tasks.add.using(priority=-100),
            tasks.add.using(priority=100, queue_name="slow"),
            tasks.add.using(run_after=later),
            tasks.ship,
        ):
            with self.subTest(task):
                result = task.enqueue(order=5) if task is tasks.ship else task.enqueue(5)
                self.assertEqual(default.get_result(result.id), result)
                self.assertEqual(result.task.get_result(result.id), result)

    def test_args_lie_under_their_names_so_that_others_can_make_such_a_job(self):
        named, placed = tasks.add.enqueue(a=1, b=2), tasks.add.enqueue(1, b=2)
        with psycopg.connect(dsn()) as eye:
            found = eye.execute(
                "select args from leasehold.jobs where id = any (%s) order by id", [[int(named.id), int(placed.id)]]
            ).fetchall()
            self.assertEqual(found, [({"a": 1, "b": 2},), ({"*": [1], "b": 2},)])
            [job_id] = eye.execute(
                "select leasehold.enqueue_job('" + tasks.add.module_path + "', '{\"a\": 3}')"
            ).fetchone()
        result = default.get_result(str(job_id))
        self.assertEqual((result.args, result.kwargs), ([], {"a": 3}))

    def test_priority_queue_time_and_options_go_to_the_job(self):
        later = timezone.now() + timedelta(hours=1)
        task = tasks.ship.using(priority=-3, queue_name="slow", run_after=later, key="k", key_group="g", max_attempts=4)
        result = task.enqueue(order=1)
        with psycopg.connect(dsn()) as eye:
            row = eye.execute(
                "select priority, queue, run_at, key, key_group, max_attempts, timeout, state"
                " from leasehold.all_jobs where id = %s",
                [int(result.id)],
            ).fetchone()
        self.assertEqual(row[:2] + row[3:], (-3, "slow", "k", "g", 4, 60, "scheduled"))
        self.assertEqual(row[2], later if timezone.is_aware(later) else timezone.make_aware(later))

    def test_what_is_there_already_is_the_result(self):
        first = tasks.ship.enqueue(order=42)
        self.assertEqual(tasks.ship.enqueue(order=42), first)
        self.assertNotEqual(tasks.ship.enqueue(order=43).id, first.id)
        again = tasks.noop.using(idempotency_key="request-81")
        self.assertEqual(again.enqueue().id, again.enqueue().id)
        strict = tasks.ship.using(unique=Unique(by=["kind", "args.order"], on_conflict="reject"))
        with self.assertRaises(UniqueConflict):
            strict.enqueue(order=42)

    def test_an_unknown_id_has_no_result(self):
        for strange in ("123456789", "-1", "abc", "", "9" * 40):
            with self.subTest(strange), self.assertRaises(exceptions.TaskResultDoesNotExist):
                default.get_result(strange)

    def test_a_job_that_is_no_task_has_no_result(self):
        with psycopg.connect(dsn()) as eye:
            for kind in ("echo", "tests.leasehold.django.project.shop.nothing", "django.setup"):
                [job_id] = eye.execute("select leasehold.enqueue_job(%s)", [kind]).fetchone()
                eye.commit()
                with self.subTest(kind), self.assertRaises(exceptions.TaskResultDoesNotExist):
                    default.get_result(str(job_id))

    def test_the_result_of_another_task_is_none_of_this_one(self):
        result = tasks.noop.enqueue()
        with self.assertRaises(exceptions.TaskResultMismatch):
            tasks.add.get_result(result.id)

    def test_what_json_has_not_is_refused_and_nothing_is_written(self):
        before = jobs()
        for value, error in ((object(), TypeError), (float("nan"), InvalidArgs), ("\0", InvalidArgs)):
            with self.subTest(value), self.assertRaises(error):
                tasks.add.enqueue(value)
        self.assertEqual(jobs(), before)

    def test_a_signal_and_a_log_line_tell_of_it(self):
        heard = []
        signals.task_enqueued.connect(lambda sender, task_result, **_: heard.append((sender, task_result)), weak=False)
        with self.assertLogs(interface.__name__, level="DEBUG") as lines:
            result = tasks.noop.enqueue()
        self.assertEqual(heard, [(Backend, result)])
        self.assertIn(f"id={result.id}", lines.output[0])
        self.assertIn("enqueued", lines.output[0])

    def test_another_backend_of_the_project_is_another_alias_of_the_same_jobs(self):
        result = tasks.noop.using(backend="other", queue_name="anything").enqueue()
        self.assertEqual(result.backend, "other")
        self.assertEqual(interface.task_backends["other"].get_result(result.id), result)
        with psycopg.connect(dsn()) as eye:
            row = eye.execute("select max_attempts from leasehold.jobs where id = %s", [int(result.id)]).fetchone()
        self.assertEqual(row, (7,))


class Refusals(SimpleTestCase):
    databases = "__all__"

    def test_of_what_no_backend_takes(self):
        for changes in ({"priority": -101}, {"priority": 101}, {"priority": 3.1}, {"queue_name": "unknown"}):
            with self.subTest(changes), self.assertRaises(InvalidTask):
                tasks.noop.using(**changes)
        with self.assertRaises(InvalidTask):
            interface.task(lambda: None)
        if timezone.is_aware(timezone.now()):
            with self.assertRaisesMessage(InvalidTask, "run_after must be an aware datetime."):
                tasks.noop.using(run_after=datetime.now())

    def test_of_what_no_job_can_be(self):
        with self.assertRaisesMessage(InvalidTask, "comma"):
            tasks.noop.using(backend="other", queue_name="a,b")

    def test_come_again_when_the_task_is_enqueued(self):
        task = tasks.noop.using(queue_name="slow")
        only = {"default": {"BACKEND": "leasehold.django.Backend", "QUEUES": ["queue-1"]}}
        with override_settings(TASKS=only), self.assertRaisesMessage(InvalidTask, "Queue 'slow' is not valid"):
            task.enqueue()

    def test_of_coroutines_where_somebody_forbids_them(self):
        with mock.patch.multiple(default, supports_async_task=False), self.assertRaises(InvalidTask):
            default.validate_task(tasks.noop_async)

    def test_of_options_that_there_are_not(self):
        for options in ({"slots": 3}, {"retry": {"initial": -1}}, {"database": "nowhere"}):
            given = {"default": {"BACKEND": "leasehold.django.Backend", "OPTIONS": options}}
            with self.subTest(options), override_settings(TASKS=given):
                [message] = default.check()
                self.assertIn(message.id, ("leasehold.E001", "leasehold.E002"))


class Transactions(SimpleTestCase):
    databases = "__all__"

    def test_a_task_exists_if_and_only_if_the_transaction_commits(self):
        before = jobs()
        with transaction.atomic():
            tasks.noop.enqueue()
            self.assertEqual(jobs(), before)
        self.assertEqual(jobs(), before + 1)
        with self.assertRaises(Undone), transaction.atomic():
            tasks.noop.enqueue()
            raise Undone
        self.assertEqual(jobs(), before + 1)

    def test_a_savepoint_that_is_undone_takes_its_tasks_with_it(self):
        before = jobs()
        with transaction.atomic():
            kept = tasks.noop.enqueue()
            with self.assertRaises(Undone), transaction.atomic():
                tasks.noop.enqueue()
                raise Undone
        self.assertEqual(jobs(), before + 1)
        self.assertEqual(default.get_result(kept.id), kept)

    def test_workers_are_woken_by_the_commit_and_by_nothing_before(self):
        with psycopg.connect(dsn(), autocommit=True) as ear, psycopg.connect(dsn(), autocommit=True) as mouth:
            idle_worker(mouth)
            ear.execute("listen leasehold")
            with transaction.atomic():
                tasks.noop.using(backend="other", queue_name="nobody").enqueue()
                mouth.execute("select pg_notify('leasehold', 'before the commit')")
            mouth.execute("select pg_notify('leasehold', 'after the commit')")
            heard = []
            for notice in ear.notifies():
                heard.append(notice.payload)
                if notice.payload == "after the commit":
                    break
        self.assertEqual(heard, ["before the commit", "wake:nobody", "after the commit"])

    def test_it_costs_one_statement(self):
        with transaction.atomic(), CaptureQueriesContext(connection) as queries:
            tasks.noop.enqueue()
        self.assertEqual(len(queries), 1)
        with CaptureQueriesContext(connection) as queries:
            tasks.noop.enqueue()
        self.assertEqual(len(queries), 1)


def jobs() -> int:
    """As another connection sees them."""
    with psycopg.connect(dsn()) as eye:
        row = eye.execute("select count(*) from leasehold.jobs").fetchone()
    return row[0] if row else 0


def idle_worker(connection: psycopg.Connection) -> None:
    """A worker that waits for work, as far as the database knows."""
    [ear] = connection.execute("select gen_random_uuid()").fetchone() or [None]
    connection.execute("select leasehold.register_worker(%s, 'ear', 'host', 1, '0', '{nobody}', '{}', 1, true)", [ear])
    connection.execute("select leasehold.claim_jobs(%s, 'ear', '{nobody}', '{}', 1, interval '1 minute')", [ear])
