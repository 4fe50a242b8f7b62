"""Tests of a Django project, run as its `manage.py test` runs them."""

from __future__ import annotations

import pytest

from tests.leasehold.django.test_management import manage, run_python

pytest.importorskip("django")


def test_the_database_of_djangos_tests_has_our_schema_and_a_kit_runs_tasks(fresh_database_url: str) -> None:
    done = manage(fresh_database_url, "test", "tests.leasehold.django.project.tested")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "Ran 3 tests" in done.stderr


def test_a_process_that_has_sent_mail_to_the_memory_is_no_test(empty_database_url: str) -> None:
    """Its database would get our schema, and a clock that can be moved, without being asked."""
    program = (
        "import django; django.setup()\n"
        "from django.core import mail, management\n"
        "from django.db import connection\n"
        "mail.get_connection('django.core.mail.backends.locmem.EmailBackend')\n"
        "assert mail.outbox == []\n"
        "management.call_command('migrate', verbosity=0)\n"
        "assert 'leasehold' not in str(connection.cursor().execute('select array_agg(nspname) from pg_namespace').fetchone())"
    )
    done = run_python(empty_database_url, "-c", program)
    assert done.returncode == 0, done.stderr
