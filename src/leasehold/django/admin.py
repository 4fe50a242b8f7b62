"""A page in the admin: how many jobs wait, run and have failed, and the way to the dashboard."""

# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUntypedBaseClass=false, reportUnknownParameterType=false

# ruff: noqa: ARG002  the admin gives more than the answers need

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.template.response import TemplateResponse
from django.urls import path

from leasehold.asks import Ask
from leasehold.django.backend import Backend, ask_on
from leasehold.django.project import our_backends
from leasehold.errors import LeaseholdError


class JobsMeta:
    """What the admin asks of a model. There is none: the tables are not Django's."""

    app_label = "leasehold"
    app_config: Any = None
    object_name = "Jobs"
    model_name = module_name = "jobs"
    verbose_name = verbose_name_plural = "jobs"
    abstract = swapped = False
    is_composite_pk = False

    def get_ordered_objects(self) -> bool:
        """None."""
        return False

    def get_change_permission(self) -> str:
        """The permission of who may see the page."""
        return f"change_{self.model_name}"

    @property
    def label(self) -> str:
        """With the name of the app."""
        return f"{self.app_label}.{self.object_name}"

    label_lower = "leasehold.jobs"


class JobsModel:
    """Stands in the place of a model."""

    _meta = JobsMeta()


class JobsShown(NamedTuple):
    """One backend, for the page. `counts` has rows of queue, state and number; `problem` says why there are none."""

    alias: str
    dashboard: str | None
    counts: Sequence[tuple[str, str, int]]
    problem: str | None


class JobsAdmin(admin.ModelAdmin):
    """One page. Who may see it is a superuser, or has the permission `leasehold.view_jobs`."""

    def get_urls(self) -> list[Any]:
        """The page, under the name that the index of the admin links to."""
        return [path("", self.admin_site.admin_view(self.changelist_view), name="leasehold_jobs_changelist")]

    def changelist_view(self, request: Any, extra_context: Any = None) -> TemplateResponse:
        """The page. Raises PermissionDenied."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": "Background jobs",
            "backends": [shown(backend) for backend in our_backends()],
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/leasehold/jobs.html", context)

    def has_view_permission(self, request: Any, obj: Any = None) -> bool:
        """Superusers, and whoever a backend of permissions gives `leasehold.view_jobs`."""
        return request.user.has_perm("leasehold.view_jobs")

    def has_module_permission(self, request: Any) -> bool:
        """Whether the index shows it."""
        return self.has_view_permission(request)

    def has_add_permission(self, request: Any) -> bool:
        """Nobody: tasks are enqueued."""
        return False

    def has_change_permission(self, request: Any, obj: Any = None) -> bool:
        """Nobody: the dashboard changes jobs."""
        return False

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        """Nobody."""
        return False


def shown(backend: Backend) -> JobsShown:
    """What the page says of a backend."""
    dashboard = backend.chosen.dashboard
    try:
        counts = ask_on(backend.chosen.database, Ask("count_jobs", (), _counts))
    except LeaseholdError as error:
        return JobsShown(backend.alias, dashboard, [], str(error))
    return JobsShown(backend.alias, dashboard, counts, None)


def _counts(rows: Any) -> list[tuple[str, str, int]]:
    return [(row["queue"], row["state"], row["jobs"]) for row in rows]


admin.site.register([JobsModel], JobsAdmin)  # pyright: ignore[reportArgumentType]
