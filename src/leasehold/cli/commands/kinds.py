"""`leasehold kinds list`, `show`, `sync` and `drop`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.loading import load_app
from leasehold.cli.runtime.options import INJECTED, setting
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views import ago, fields_table, plain, table
from leasehold.errors import NotFound, SettingsError
from leasehold.observability.wording import show_span
from leasehold.records.queues import DeclaredKind, DroppedKind, KindConflict, KindRecord
from leasehold.settings.sources import suggest


def view_kinds(kinds: list[KindRecord], now: datetime) -> Sequence[RenderableType]:
    """One line each, and a sentence for each disagreement."""
    heads = ["kind", "queue", "priority", "attempts", "key", "args", "version", "declared", "workers"]
    rows = [
        [
            plain(each.kind),
            plain(each.queue or "default"),
            str(each.priority or 0),
            "20" if each.max_attempts is None else str(each.max_attempts),
            plain(each.key or "-"),
            "checked" if each.checks_args else "any",
            plain(each.app_version or "-"),
            ago(each.declared_at, now),
            str(each.workers) if each.workers else "none",
        ]
        for each in kinds
    ]
    torn = [plain(text, "yellow") for each in kinds for text in disagreements(each)]
    return [table(heads, rows, right=["priority", "attempts", "workers"]), *torn]


def view_kind(kind: KindRecord, _now: datetime) -> Sequence[RenderableType]:
    """Everything about one."""
    facts: dict[str, object] = {
        "kind": kind.kind,
        "queue": kind.queue or "default",
        "priority": kind.priority or 0,
        "attempts": 20 if kind.max_attempts is None else kind.max_attempts,
        "timeout": "none" if kind.timeout is None else show_span(kind.timeout),
        "deadline": "none" if kind.deadline is None else show_span(kind.deadline),
        "retry": _json(kind.retry),
        "unique": _json(kind.unique),
        "key": kind.key or "-",
        "key group": kind.key_group or "-",
        "args": f"{_json(kind.args_schema)}{'' if kind.checks_args else ' (not checked)'}",
        "output": _json(kind.output_schema),
        "app": f"{kind.app or '-'}, version {kind.app_version or '-'}",
        "declared": kind.declared_at,
        "workers": kind.workers or "none",
    }
    return [fields_table(facts), *(plain(text, "yellow") for text in disagreements(kind))]


def disagreements(kind: KindRecord) -> list[str]:
    """A sentence for each other version that says something else."""
    return [_disagreement(kind, each) for each in kind.conflicts]


def _disagreement(kind: KindRecord, other: KindConflict) -> str:
    workers = "1 live worker runs" if other.workers == 1 else f"{other.workers} live workers run"
    return (
        f"kind {kind.kind}: version {other.app_version or '-'} of {other.app or 'an app'} says otherwise of "
        f"{', '.join(other.fields)}; {workers} it, and version {kind.app_version or '-'} of {kind.app or 'an app'} wins"
    )


def _json(value: Any) -> str:
    return "-" if value is None else msgspec.json.encode(value).decode()


def view_synced(kinds: list[DeclaredKind], _now: datetime) -> Sequence[RenderableType]:
    """One line each."""
    rows = [[plain(each.kind), each.outcome] for each in kinds]
    return [table(["kind", "outcome"], rows)]


@shown_as(view_kinds)
async def kinds_list(*, context: Annotated[CommandContext, INJECTED]) -> list[KindRecord]:
    """List the declared kinds, what their jobs get, and how many workers serve them.

    Where versions of an app disagree, the one that said something new last wins; each other one is named.
    One that no app has any more can be dropped.

    Example:
      leasehold kinds list
    """
    async with context.client() as client:
        return await client.kinds.list()


@shown_as(view_kind)
async def kinds_show(kind: str, /, *, context: Annotated[CommandContext, INJECTED]) -> KindRecord:
    """Show one kind, with the JSON Schemas of its args and its output.

    Example:
      leasehold kinds show charge
    """
    async with context.client() as client:
        try:
            return await client.kinds.get(kind)
        except NotFound as error:
            known = [each.kind for each in await client.kinds.list()]
            raise NotFound(f"{error}{suggest(kind, known)}") from error


@shown_as(view_synced)
async def kinds_sync(
    *,
    app: Annotated[str | None, setting("app")] = None,
    app_version: Annotated[str | None, setting("app_version")] = None,
    keep_newest: Annotated[
        bool, Parameter(help="Leave a kind alone of which another version was declared later.", negative=())
    ] = False,
    context: Annotated[CommandContext, INJECTED],
) -> list[DeclaredKind]:
    """Declare the kinds of an app; from now on this version wins.

    Run it before a deploy, so that producers have the new defaults at once, and after a roll-back.

    Example:
      leasehold kinds sync --app shop:app
    """
    settings = context.settings_with({"app": app, "app_version": app_version})
    if settings.app is None:
        raise SettingsError("no app is named; say which: --app module:attribute, or LEASEHOLD_APP")
    loaded = load_app(settings.app)
    async with context.client() as client:
        version = settings.app_version or loaded.version
        return await client.kinds.sync(loaded, name=settings.app, app_version=version, is_newest=not keep_newest)


def view_dropped(dropped: DroppedKind, _now: datetime) -> Sequence[RenderableType]:
    """One line."""
    return [plain(f"kind {dropped.kind} is no longer in the catalogue")]


@shown_as(view_dropped)
async def kinds_drop(kind: str, /, *, context: Annotated[CommandContext, INJECTED]) -> DroppedKind:
    """Take a kind out of the catalogue that no app has any more.

    It is refused while a live worker serves it, or a job that has not ended or a schedule is of it.
    A worker that still has it declares it anew when it starts.

    Example:
      leasehold kinds drop old_report
    """
    async with context.client() as client:
        await client.kinds.drop(kind)
    return DroppedKind(kind=kind)
