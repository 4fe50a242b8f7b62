"""The app of Django: `"leasehold.django"` in INSTALLED_APPS."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import sys
from typing import Any

from django.apps import AppConfig
from django.core import checks
from django.db.models.signals import post_migrate


class LeaseholdConfig(AppConfig):
    """It has no models: the tables are made by `manage.py leasehold migrate`."""

    name = "leasehold.django"
    label = "leasehold"
    verbose_name = "Background jobs"

    def ready(self) -> None:
        """Register the checks of the backends, which django-tasks does only where it is installed as an app, and of the schema."""
        from leasehold.django.project import check_schema  # noqa: PLC0415  needs the settings
        from leasehold.django.terms import part  # noqa: PLC0415  needs the settings

        part(".checks")
        checks.register(check_schema, checks.Tags.database)
        post_migrate.connect(make_schema_of_tests)


def make_schema_of_tests(using: str, **_kwargs: Any) -> None:
    """Make our schema in the database that Django has made for tests, where nobody can run `manage.py leasehold migrate`."""
    # Not `mail.outbox`, which each mail to the backend locmem makes.
    utils = sys.modules.get("django.test.utils")
    if hasattr(getattr(utils, "_TestState", None), "saved_data"):
        from leasehold.django.testing import make_schema  # noqa: PLC0415  only tests need it

        make_schema(using)
