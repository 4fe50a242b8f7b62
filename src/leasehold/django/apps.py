"""The app of Django: `"leasehold.django"` in INSTALLED_APPS."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from django.apps import AppConfig
from django.core import checks


class LeaseholdConfig(AppConfig):
    """It has no models: the tables are made by `manage.py leasehold migrate`."""

    name = "leasehold.django"
    label = "leasehold"
    verbose_name = "Background jobs"

    def ready(self) -> None:
        """Register the check of the schema; those of the backends Django asks for itself."""
        from leasehold.django.project import check_schema  # noqa: PLC0415  needs the settings

        checks.register(check_schema, checks.Tags.database)
