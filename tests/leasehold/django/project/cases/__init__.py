"""Test cases of Django's own kind. `test_cases.py` above runs each module in a process of its own, for a process has one Django.
`python -m unittest tests.leasehold.django.project.cases.enqueueing` does the same, with SHOP_DSN set."""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import os

import django
from django.core.management import call_command
from django.test.utils import setup_test_environment

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.leasehold.django.project.settings")
django.setup()
setup_test_environment()
call_command("migrate", verbosity=0)
