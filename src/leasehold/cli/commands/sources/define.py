"""`leasehold import define`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views.text import plain
from leasehold.errors import BadInput
from leasehold.moving.mapping import load_mapping, with_names


class DefinedSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source just defined; `is_new` is false where its mapping was replaced."""

    source: str
    is_new: bool


def view_defined(report: DefinedSource, _now: datetime) -> Sequence[RenderableType]:
    """One sentence, and what to do next."""
    done = "defined" if report.is_new else "defined again"
    return [plain(f"source {report.source} {done}; look with  leasehold import plan {report.source}")]


@shown_as(view_defined)
async def import_define(
    mapping: str,
    /,
    *,
    name: Annotated[str | None, Parameter(help="Of the source; else that of the mapping or its file.")] = None,
    schema: Annotated[str, Parameter(help="Where the other queue has its tables.")] = "public",
    names: Annotated[Path | None, Parameter(help="JSON file with kinds, queues and positional: new names.")] = None,
    context: Annotated[CommandContext, INJECTED],
) -> DefinedSource:
    """Say how the tables of another queue in this database are read.

    Ready mappings: procrastinate, pgqueuer, celery_beat, django_tasks_db, worker_tasks, crawl_jobs; or a .toml or .json file.
    The mapping holds SQL that runs with the rights of the schema's owner, so only the owner may define it.

    Example:
      leasehold import define procrastinate
      leasehold import define ./old_queue.toml --schema legacy --names names.json
    """
    loaded = with_names(load_mapping(mapping, schema), {} if names is None else _read_names(names))
    source = name or Path(mapping).stem
    async with context.database() as database:
        is_new = await database.call_value("define_source", source, msgspec.json.encode(loaded).decode())
    return DefinedSource(source=source, is_new=bool(is_new))


def _read_names(path: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.DecodeError) as error:
        raise BadInput(f"{path} cannot be read as a JSON object: {error}") from error
