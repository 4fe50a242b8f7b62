"""Runs the test cases of the Django project, on the Django that is installed. `tools/django_tests.py` runs them on others."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.waiting import PATIENCE

pytest.importorskip("django")

CASES = "tests.leasehold.django.project.cases"


@pytest.mark.parametrize(
    ("case", "use_tz"), [("enqueueing", "1"), ("enqueueing", "0"), ("running", "1"), ("running", "0"), ("admin", "1")]
)
def test_the_cases_hold_on_the_django_that_is_installed(fresh_database_url: str, case: str, use_tz: str) -> None:
    environment = {**os.environ, "SHOP_DSN": fresh_database_url, "SHOP_USE_TZ": use_tz}
    done = subprocess.run(
        [sys.executable, "-m", "unittest", "-v", f"{CASES}.{case}"],
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE * 5,
        env=environment,
    )
    assert done.returncode == 0, done.stderr + done.stdout
