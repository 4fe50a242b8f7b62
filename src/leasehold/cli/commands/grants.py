"""`leasehold grants`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from leasehold.access.roles import DEFAULT_PREFIX, emit_grants, functions_of, read_roles
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views import plain, table
from leasehold.errors import BadInput


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """A Postgres role: what it is for, what it includes, and how many functions it may call (the owner: all)."""

    name: str
    purpose: str
    includes: list[str]
    functions: list[str]


class GrantsReport(msgspec.Struct, frozen=True, kw_only=True):
    """The roles, and whether they are in force in this database."""

    in_force: bool
    roles: list[Role]


def view_grants(report: GrantsReport, _now: datetime) -> Sequence[RenderableType]:
    """One line for each role, then whether they are in force."""
    rows = [[plain(each.name), str(len(each.functions) or "all"), plain(each.purpose)] for each in report.roles]
    parts: list[RenderableType] = [table(["role", "calls", "which"], rows, right=["calls"], cut="which"), Text("")]
    if not report.in_force:
        return [*parts, Text("they are not in force here; `leasehold grants --apply` makes them")]
    return [*parts, Text("they are in force; a login needs only to be a member: create role shop login in role …")]


@shown_as(view_grants)
async def grants(
    *,
    emit: Annotated[bool, Parameter(help="Print all of it as SQL; needs no database.", negative=())] = False,
    apply: Annotated[bool, Parameter(help="Make the roles and give them their rights.", negative=())] = False,
    prefix: Annotated[
        str | None, Parameter(help=f"What their names begin with; {DEFAULT_PREFIX} if not given.")
    ] = None,
    context: Annotated[CommandContext, INJECTED],
) -> GrantsReport | None:
    """Show, print or apply the Postgres roles: who may call which function.

    With the roles, a producer can only enqueue, and only the owner has rights on tables. Applying needs a superuser, or the
    owner of the schema with the right to make roles. Applying again puts right what was changed by hand, and
    `leasehold migrate` keeps the roles up to date.

    Example:
      leasehold grants
      leasehold grants --emit --prefix shop_ > roles.sql
      leasehold grants --apply
    """
    if emit and apply:
        raise BadInput("--emit prints, --apply does it; choose one")
    if emit:
        context.terminal.stdout.write(emit_grants(prefix or DEFAULT_PREFIX))
        return None
    await context.check_schema()
    found = await context.services.find_prefix(context.dsn())
    shown = prefix or found or DEFAULT_PREFIX
    if apply:
        await context.services.apply_grants(context.dsn(), shown)
    return GrantsReport(in_force=apply or found is not None, roles=_roles(shown))


def _roles(prefix: str) -> list[Role]:
    return [
        Role(
            name=prefix + name,
            purpose=row.purpose,
            includes=[prefix + each for each in row.includes],
            functions=[] if name == "owner" else sorted(functions_of(name)),
        )
        for name, row in read_roles().items()
    ]
