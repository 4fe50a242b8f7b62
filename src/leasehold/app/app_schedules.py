"""Schedules that the code declares beside its kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, Unpack, cast, overload

from leasehold.errors import BadInput, DuplicateSchedule
from leasehold.jobs.kind import Kind
from leasehold.jobs.new_job import NewJob
from leasehold.schedules.definition import ScheduleOptions
from leasehold.schedules.encoding import Definition, checked_definition, define


class NeedsNoArgs(Protocol):
    """A kind whose jobs can be made without args."""

    def new(self) -> NewJob[Any]:
        """A job of this kind."""
        ...


K = TypeVar("K", bound=Kind[..., Any])
N = TypeVar("N", bound=NeedsNoArgs)


class AppSchedules:
    """The part of an app that declares schedules.

    Attributes:
        schedules: the definitions, as the SQL function `declare_schedule` takes them.
    """

    def __init__(self) -> None:
        self.schedules: list[Definition] = []
        self._kinds: dict[str, Kind[..., Any]] = {}

    @overload
    def schedule(
        self, job: NewJob[Any] | NeedsNoArgs, /, *, name: str | None = None, **options: Unpack[ScheduleOptions]
    ) -> Definition: ...
    @overload
    def schedule(
        self,
        job: Kind[..., Any],
        /,
        *,
        query: str,
        args: Mapping[str, Any] | None = None,
        name: str | None = None,
        **options: Unpack[ScheduleOptions],
    ) -> Definition: ...
    @overload
    def schedule(self, /, *, name: str | None = None, **options: Unpack[ScheduleOptions]) -> Callable[[N], N]: ...
    @overload
    def schedule(
        self,
        /,
        *,
        args: Mapping[str, Any],
        query: str | None = None,
        name: str | None = None,
        **options: Unpack[ScheduleOptions],
    ) -> Callable[[K], K]: ...
    @overload
    def schedule(
        self, /, *, query: str, name: str | None = None, **options: Unpack[ScheduleOptions]
    ) -> Callable[[K], K]: ...
    def schedule(
        self,
        job: Any = None,
        /,
        *,
        args: Mapping[str, Any] | None = None,
        query: str | None = None,
        name: str | None = None,
        **options: Unpack[ScheduleOptions],
    ) -> Any:
        """Declare a schedule, as a decorator above a handler or by a call.

        When a scheduler starts with this app (`leasehold run scheduler --app …`), it creates the schedule or updates it to
        what the code says, field by field. A field that an operator has changed keeps the operator's value. A schedule that
        the code no longer declares goes on, marked as orphaned, until it is deleted.

        Args:
            job: `greet.new(name="Ada")`, or a kind that needs no args or gets them from `query`. Without it, `schedule` is a
                decorator to put above `@app.kind()`.
            args: the args of each job, if `job` is a kind.
            query: a SELECT; each tick makes one job for each of its rows. The columns are args, except that `key`,
                `key_group`, `priority`, `queue`, `run_at`, `delay`, `max_attempts` and `metadata` are options of the job.
            name: of the schedule; the name of the kind if not given.
            options: as in `ScheduleOptions`; one of `every`, `cron` and `at` is required.

        Returns:
            The definition; as a decorator, the kind.

        Example:
            @app.schedule(cron="0 3 * * *", zone="Europe/Berlin", missed="skip")
            @app.kind()
            async def clean_up(days: int = 30) -> None: ...

            app.schedule(greet.new(name="Ada"), name="greet-ada", every=timedelta(hours=1))
            app.schedule(crawl, query="select id as shop from shops", every=timedelta(hours=4), stagger=1800)

        Raises:
            BadInput: not exactly one of `every`, `cron` and `at` is given, a cron expression or a time zone does not exist,
                or a value is out of range.
            InvalidArgs: the handler does not take these args.
            DuplicateSchedule: the name is taken.
        """
        if job is not None:
            return self._declare(job, args, query, name, options)

        def decorate(kind: Kind[..., Any]) -> Kind[..., Any]:
            self._declare(kind, args, query, name, options)
            return kind

        return decorate

    def _declare(
        self, job: Any, args: Mapping[str, Any] | None, query: str | None, name: str | None, options: Mapping[str, Any]
    ) -> Definition:
        if isinstance(job, NewJob):
            made = cast("NewJob[Any]", job)
            if args is not None or query is not None:
                raise BadInput(f"a job of {made.kind} has its args already; give the kind, and args or a query")
            return self.add_schedule(define(made, name, options, self._kinds.get(made.kind)))
        if not isinstance(job, Kind):
            raise BadInput(f"a schedule needs a kind or a job, not {job!r:.100}; put @app.schedule above @app.kind()")
        kind = cast("Kind[..., Any]", job)
        new = NewJob[Any](kind=kind.name, args=dict(args or {}))
        return self.add_schedule(define(new, name, {**options, "query": query}, kind))

    def add_schedule(self, definition: Mapping[str, Any]) -> Definition:
        """Declare a schedule by the fields of a `ScheduleDefinition`. Raises BadInput, DuplicateSchedule."""
        made = checked_definition(definition)
        if any(each["name"] == made["name"] for each in self.schedules):
            raise DuplicateSchedule(f"schedule {made['name']!r} is declared already; give one of them another name")
        self.schedules.append(made)
        return made
